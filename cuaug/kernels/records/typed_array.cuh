#pragma once

#include "dtype.cuh"

namespace cuaug {

// Numbers of one of several types; strides in elements. Kinds: float16, bfloat16, float32, float64; uint8, int16,
// int32, int64.
struct Numbers {
    const void* data;
    long long n;  // stride of a sample
    long long k;  // stride of a box or a region
    long long x;  // stride of a coordinate
    long long kind;
};

inline double read_number(const Numbers& numbers, long long offset) {
    switch (numbers.kind) {
        case 0:
            return to_float(static_cast<const float16*>(numbers.data)[offset]);
        case 1:
            return to_float(static_cast<const bfloat16*>(numbers.data)[offset]);
        case 2:
            return static_cast<const float*>(numbers.data)[offset];
        default:
            return static_cast<const double*>(numbers.data)[offset];
    }
}

inline long long read_whole(const Numbers& numbers, long long offset) {
    switch (numbers.kind) {
        case 4:
            return static_cast<const uint8*>(numbers.data)[offset];
        case 5:
            return static_cast<const int16*>(numbers.data)[offset];
        case 6:
            return static_cast<const int32*>(numbers.data)[offset];
        default:
            return static_cast<const int64*>(numbers.data)[offset];
    }
}

// Into an array of a record's kind of index.
template <class Record>
inline void write_index(const Record& args, void* to, long long offset, int index) {
    if (args.index_bytes == 8)
        static_cast<int64*>(to)[offset] = index;
    else
        static_cast<int32*>(to)[offset] = index;
}

}  // namespace cuaug
