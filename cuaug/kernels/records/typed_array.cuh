#pragma once

#include "dtype.cuh"

namespace cuaug {

// An array whose dtype is known at run time; strides in elements.
struct TypedArray {
    const void* data;
    long long n_stride;    // from one sample to the next
    long long k_stride;    // from one box or region to the next
    long long x_stride;    // from one coordinate to the next
    long long dtype_code;  // 0 to 7: float16, bfloat16, float32, float64, uint8, int16, int32, int64
};

// For arrays of a float dtype: codes 0 to 3.
inline double read_number(const TypedArray& array, long long offset) {
    switch (array.dtype_code) {
        case 0:
            return to_float(static_cast<const float16*>(array.data)[offset]);
        case 1:
            return to_float(static_cast<const bfloat16*>(array.data)[offset]);
        case 2:
            return static_cast<const float*>(array.data)[offset];
        default:
            return static_cast<const double*>(array.data)[offset];
    }
}

// For arrays of an integer dtype: codes 4 to 7.
inline long long read_int(const TypedArray& array, long long offset) {
    switch (array.dtype_code) {
        case 4:
            return static_cast<const uint8*>(array.data)[offset];
        case 5:
            return static_cast<const int16*>(array.data)[offset];
        case 6:
            return static_cast<const int32*>(array.data)[offset];
        default:
            return static_cast<const int64*>(array.data)[offset];
    }
}

}  // namespace cuaug
