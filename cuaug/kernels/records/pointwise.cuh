#pragma once

#include "records/record.cuh"

namespace cuaug {

// A chain of ops at every pixel. Mirrored by cuaug/_pass.py.
struct Pointwise : Batch {
    Table parameters;  // [N, P]: those of all ops, one after the other; data null: `value` serves all samples
    double value[12];
    Table parts;  // [N, part_count]: float64, whose sum serves instead of parameter `part_column`, if that is not -1
    int part_count;
    int part_column;
};

// Of a chain whose parameters are all given.
inline double given_parameter(const Pointwise& record, long long n, int i) {
    return record.parameters.data != nullptr
               ? read(record.parameters, n * record.parameters.n + i * record.parameters.x)
               : record.value[i];
}

inline double parameter(const Pointwise& record, long long n, int i) {
    if (i != record.part_column) return given_parameter(record, n, i);
    double sum = 0.0;
    for (int j = 0; j < record.part_count; ++j) sum += entry(record.parts, n, j);
    return sum;
}

// The sample that sample n is mixed with: parameter 0, or the one before it where that is negative, and itself where it
// is no sample.
inline long long partner_of(const Pointwise& record, long long n) {
    const double partner = parameter(record, n, 0);
    if (partner < 0.0) return n > 0 ? n - 1 : record.samples - 1;
    return partner < static_cast<double>(record.samples) ? static_cast<long long>(partner) : n;
}

}  // namespace cuaug
