#pragma once

#include "dispatch.hpp"
#include "loops.hpp"

namespace cuaug {

template <class T>
constexpr native::Dtype dtype_of = static_cast<native::Dtype>(IndexIn<T, Dtypes>::value);

// Dtypes begins with ImageDtypes, so that an index stands for the same dtype in both lists.
inline bool is_image_dtype(native::Dtype dtype) { return static_cast<int>(dtype) < size_of_list(ImageDtypes()); }

template <class Visitor>
inline auto dispatch_image_dtype(native::Dtype dtype, const Visitor& visit) {
    return dispatch(ImageDtypes(), static_cast<int>(dtype), visit);
}

template <class Visitor>
inline auto dispatch_dtype(native::Dtype dtype, const Visitor& visit) {
    return dispatch(Dtypes(), static_cast<int>(dtype), visit);
}

}  // namespace cuaug
