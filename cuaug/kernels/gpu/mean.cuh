#pragma once

#include "../dtype.cuh"

namespace cuaug {

// In place of a layout: nothing is stored but every sample's mean luma, in the images' own range. `out` is a column of a table,
// float64, and those after it: the mean, a count of the parts that are done, which is 0, and the parts.
struct MeanLuma {};

// Called by all threads of a block with their sums of a part of a sample: whichever part is done last adds them up, always in the
// same order. `sums` is shared memory for one number a warp.
inline void add_part(double sum, double* sums, double* out, int part, int parts, double scale) {
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, i);
    if (lane == 0) sums[warp_index] = sum;
    __syncthreads();
    if (warp_index == 0) {
        double total = lane < warps ? sums[lane] : 0.0;
        for (int i = 16; i > 0; i /= 2) total += __shfl_xor_sync(0xffffffffu, total, i);
        double done = 0.0;
        if (lane == 0) {
            __stcg(out + 2 + part, total);
            __threadfence();
            done = atomicAdd(out + 1, 1.0);
        }
        if (__shfl_sync(0xffffffffu, done, 0) + 1.0 == static_cast<double>(parts)) {
            __threadfence();
            double all = 0.0;
            for (int i = lane; i < parts; i += 32) all += __ldcg(out + 2 + i);
            for (int i = 16; i > 0; i /= 2) all += __shfl_xor_sync(0xffffffffu, all, i);
            if (lane == 0) out[0] = all * scale;
        }
    }
    __syncthreads();
}

}  // namespace cuaug
