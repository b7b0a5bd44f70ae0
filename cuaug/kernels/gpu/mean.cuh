#pragma once

#include "../dtype.cuh"

namespace cuaug {

// In place of a layout: nothing is stored but every sample's mean luma, in the images' own range.
struct MeanLuma {};

// Called by all threads of a block with their sums of a part of a sample: whichever part is done last adds them up, always in the
// same order. `done` is 0 before and after, and parts follow it; `sums` is shared memory for one number a warp.
inline void add_part(double sum, double* sums, double* mean, double* done, int part, int parts, double scale) {
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, warps = blockDim.x >> 5;
    for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, i);
    if (lane == 0) sums[warp_index] = sum;
    __syncthreads();
    if (warp_index == 0) {
        double total = lane < warps ? sums[lane] : 0.0;
        for (int i = 16; i > 0; i /= 2) total += __shfl_xor_sync(0xffffffffu, total, i);
        double before = 0.0;
        if (lane == 0) {
            __stcg(done + 1 + part, total);
            __threadfence();
            before = atomicAdd(done, 1.0);
        }
        if (__shfl_sync(0xffffffffu, before, 0) + 1.0 == static_cast<double>(parts)) {
            __threadfence();
            double all = 0.0;
            for (int i = lane; i < parts; i += 32) all += __ldcg(done + 1 + i);
            for (int i = 16; i > 0; i /= 2) all += __shfl_xor_sync(0xffffffffu, all, i);
            if (lane == 0) {
                *mean = all * scale;
                *done = 0.0;
            }
        }
    }
    __syncthreads();
}

}  // namespace cuaug
