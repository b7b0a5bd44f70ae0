#pragma once

#include "record.cuh"

namespace cuaug {

// A chain of ops at every pixel. Mirrored by cuaug/_pass.py.
struct Pointwise : Batch {
    Table parameters;    // [N, P]: those of all ops, one after the other; data null: `value` serves all samples
    double value[12];
};

inline double parameter(const Pointwise& record, long long n, int i) {
    return record.parameters.data != nullptr ? read(record.parameters, n * record.parameters.n + i * record.parameters.x) : record.value[i];
}

}  // namespace cuaug
