#pragma once

#include "gpu/reduce.cuh"

namespace cuaug {

// A block's share of a mean, in the same order of additions whatever runs beside it. `sums` is shared memory for one
// number a warp.
template <class R>
inline void store_block_sum(R sum, R* sums, double scale, double* share) {
    sum = warp_sum(sum);
    if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    double total = 0.0;
    for (int i = 0; i < blockDim.x >> 5; ++i) total += static_cast<double>(sums[i]);
    *share = total * scale;
}

}  // namespace cuaug
