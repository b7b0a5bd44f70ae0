#pragma once

#include "records/batch.cuh"

namespace cuaug {

// A chain of ops on every pixel.
struct PointwiseRecord : BatchRecord {
    // [N, P]: the parameters of all ops, in their order; data null: `value` serves all samples
    ParameterTable parameters;
    double value[12];
    // [N, partial_count]: float64; their sum serves as parameter `mean_column`, unless that is -1
    ParameterTable partial_sums;
    int partial_count;
    int mean_column;
};

// A parameter that is not summed from partial sums.
inline double stored_parameter(const PointwiseRecord& record, long long n, int i) {
    return record.parameters.data != nullptr
               ? read(record.parameters, n * record.parameters.n_stride + i * record.parameters.x_stride)
               : record.value[i];
}

inline double parameter(const PointwiseRecord& record, long long n, int i) {
    if (i != record.mean_column) return stored_parameter(record, n, i);
    double sum = 0.0;
    for (int j = 0; j < record.partial_count; ++j) sum += entry(record.partial_sums, n, j);
    return sum;
}

// The sample that sample n is mixed with. Parameter 0 is its index. A negative number stands for the previous sample
// (for sample 0, the last one); a number of `samples` or more, or a NaN, stands for n itself.
inline long long partner_of(const PointwiseRecord& record, long long n) {
    const double partner = parameter(record, n, 0);
    if (partner < 0.0) return n > 0 ? n - 1 : record.samples - 1;
    return partner < static_cast<double>(record.samples) ? static_cast<long long>(partner) : n;
}

}  // namespace cuaug
