#pragma once

#include "dtype.cuh"
#include "type_list.cuh"

namespace cuaug {

template <class... Types>
constexpr int size_of_list(TypeList<Types...>) {
    return sizeof...(Types);
}

// A type's index in a list.
template <class Type, class... Types>
constexpr int index_in(TypeList<Types...>) {
    int index = 0;
    static_cast<void>(((is_same_v<Type, Types> || (++index, false)) || ...));
    return index;
}

// Calls `visit` with a value of the type at an index of the list; every index past the end stands for the last type.
template <class First, class... Others, class Visitor>
__attribute__((always_inline)) inline auto dispatch(TypeList<First, Others...>, int index, const Visitor& visit) {
    if constexpr (sizeof...(Others) > 0)
        return index == 0 ? visit(First()) : dispatch(TypeList<Others...>(), index - 1, visit);
    else
        return visit(First());
}

// By the number of channels in a group, `Int<4>` if there are more.
template <class Visitor>
inline void dispatch_channels(int channels, const Visitor& visit) {
    dispatch(TypeList<Int<1>, Int<2>, Int<3>, Int<4>>(), channels - 1, visit);
}

}  // namespace cuaug
