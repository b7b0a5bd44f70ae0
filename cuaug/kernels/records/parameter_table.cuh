#pragma once

#include "dtype.cuh"

namespace cuaug {

// A view of float32 or float64 numbers on the images' device: a vector or a matrix per sample. Strides between samples,
// and between a sample's rows and columns, in elements; a stride of 0 repeats one entry.
struct ParameterTable {
    const void* data;
    long long n_stride;
    long long y_stride;
    long long x_stride;
    long long is_double;
};

inline double read(const ParameterTable& table, long long offset) {
    return table.is_double ? static_cast<const double*>(table.data)[offset]
                           : static_cast<double>(static_cast<const float*>(table.data)[offset]);
}

// Entry i of sample n's row. [N, entries]
inline double entry(const ParameterTable& table, long long n, int i) {
    return read(table, n * table.n_stride + i * table.x_stride);
}

}  // namespace cuaug
