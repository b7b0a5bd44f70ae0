#pragma once

#include "records/pointwise.cuh"

namespace cuaug {

constexpr int max_branches = 8;

// `in` blended with what several chains of ops have made of it, and then a chain of ops. Mirrored by cuaug/_pass.py.
struct BlendRecord : PointwiseRecord {
    const void* branch[max_branches];  // of the dtype of `in`, with the strides of `out`
    ParameterTable
        remainder_weights;  // [N, branches]: of what is left over, what `in` takes, then each branch but the last
    long long branches;
};

// What number i takes, `in` being 0, of what those before have left; the last takes all of it.
inline double take_weight(const BlendRecord& record, long long n, int i, double& left) {
    const double taken = i < record.branches ? left * entry(record.remainder_weights, n, i) : left;
    left -= taken;
    return taken;
}

}  // namespace cuaug
