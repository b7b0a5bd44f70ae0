#pragma once

#include "records/pointwise.cuh"

namespace cuaug {

constexpr int max_branches = 8;

// `in` blended with the results of several chains of ops, then a chain of ops.
struct BlendRecord : PointwiseRecord {
    const void* branch[max_branches];  // of the dtype of `in`, with the strides of `out`
    // [N, branches]: the weight that `in`, and then each branch but the last, takes of the remainder
    ParameterTable remainder_weights;
    long long branches;
};

// The weight of input i, where 0 is `in`: its part of the remainder, which it reduces. The last input takes all of it.
inline double take_weight(const BlendRecord& record, long long n, int i, double& left) {
    const double taken = i < record.branches ? left * entry(record.remainder_weights, n, i) : left;
    left -= taken;
    return taken;
}

}  // namespace cuaug
