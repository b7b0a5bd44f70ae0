#pragma once

#include "records/pointwise.cuh"

namespace cuaug {

constexpr int max_branches = 8;

// `in` blended with the results of several branches of a recipe, then a chain of ops.
struct BlendRecord : PointwiseRecord {
    const void* branch[max_branches];  // of the dtype of `in`, with the strides of `out`
    // [N, branches]: the fraction of the remaining weight that `in`, and then each branch but the last, takes
    ParameterTable remainder_fractions;
    long long branches;
};

// Returns the weight of input i (input 0 is `in`) and subtracts that weight from `remaining_weight`. The last input
// takes all that remains.
inline double take_weight(const BlendRecord& record, long long n, int i, double& remaining_weight) {
    const double weight =
        i < record.branches ? remaining_weight * entry(record.remainder_fractions, n, i) : remaining_weight;
    remaining_weight -= weight;
    return weight;
}

}  // namespace cuaug
