#pragma once

#include "dtype.cuh"

namespace cuaug {

// float32 or float64 numbers on the images' device. Strides in elements; a stride of 0 repeats one entry.
struct ParameterTable {
    const void* data;
    long long n;  // stride of a sample
    long long y;  // stride of a row
    long long x;  // stride of a column
    long long is_double;
};

inline double read(const ParameterTable& table, long long offset) {
    return table.is_double ? static_cast<const double*>(table.data)[offset]
                           : static_cast<double>(static_cast<const float*>(table.data)[offset]);
}

// Entry i of sample n's row. [N, entries]
inline double entry(const ParameterTable& table, long long n, int i) { return read(table, n * table.n + i * table.x); }

}  // namespace cuaug
