#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <pybind11/pybind11.h>

#include "dtype.cuh"
#include "../loops/loops.hpp"

// Python passes the C++ names of dtypes and functors; the loops take the index of a type in its list
// (../loops/dispatch.hpp).

namespace native {

// `Bilinear` for cuaug::Bilinear, `AdjustHue` for cuaug::AdjustHue<float, 3>.
template <class Type>
std::string_view struct_name() {
    // GCC: "... [with Type = cuaug::AdjustHue<float, 3>; ...]", Clang: "... [Type = cuaug::AdjustHue<float, 3>]".
    std::string_view name = __PRETTY_FUNCTION__;
    name.remove_prefix(name.find("Type = ") + 7);
    name = name.substr(0, name.find_first_of("<;]"));
    return name.substr(name.rfind(':') + 1);
}

template <class Type>
std::string name_of() {
    if constexpr (std::is_class_v<Type>)
        return std::string(struct_name<Type>());
    else
        return (std::is_floating_point_v<Type> ? "float"
                : std::is_signed_v<Type>       ? "int"
                                               : "uint") +
               std::to_string(8 * sizeof(Type));
}

template <class Index, class... Types>
Index index_of(cuaug::TypeList<Types...>, const std::string& name, const char* kind) {
    static const std::string names[] = {name_of<Types>()...};
    for (std::size_t i = 0; i < sizeof...(Types); ++i)
        if (names[i] == name) return static_cast<Index>(i);
    throw pybind11::value_error(std::string(kind) + " '" + name + "' is not known to the CPU loops");
}

inline Dtype dtype_named(const std::string& name) { return index_of<Dtype>(cuaug::Dtypes(), name, "dtype"); }

}  // namespace native
