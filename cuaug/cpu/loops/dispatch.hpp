#pragma once

#include "dtype.cuh"
#include "type_list.cuh"

namespace cuaug {

template <class... Types>
constexpr int size_of_list(TypeList<Types...>) {
    return sizeof...(Types);
}

// A type's index in a list; it does not compile for a type that is not in the list. This is a class template because
// GCC 13 rejects a constexpr function in the initializers of dispatch_dtype.hpp and dispatch_functor.hpp.
template <class Type, class List>
struct IndexIn;
template <class Type, class... Others>
struct IndexIn<Type, TypeList<Type, Others...>> {
    static constexpr int value = 0;
};
template <class Type, class First, class... Others>
struct IndexIn<Type, TypeList<First, Others...>> {
    static constexpr int value = 1 + IndexIn<Type, TypeList<Others...>>::value;
};

// Calls `visit` with a value of the type at an index of the list; an index outside the list stands for the last type.
template <class First, class... Others, class Visitor>
__attribute__((always_inline)) inline auto dispatch(TypeList<First, Others...>, int index, const Visitor& visit) {
    if constexpr (sizeof...(Others) > 0)
        return index == 0 ? visit(First()) : dispatch(TypeList<Others...>(), index - 1, visit);
    else
        return visit(First());
}

// Calls `visit` with Int<channels>, or with Int<4> if there are more than four channels.
template <class Visitor>
inline void dispatch_channels(int channels, const Visitor& visit) {
    dispatch(TypeList<Int<1>, Int<2>, Int<3>, Int<4>>(), channels - 1, visit);
}

}  // namespace cuaug
