#pragma once

#include "../record.cuh"

// The mean of a sample from the sums of its parts, which blocks make: added up in the same order whichever block is done when.

namespace cuaug {

// A sample's room: how many parts are done, 0 before and after, and the parts.
struct Parts {
    double* done;

    static Parts of(const Table& table, long long n) { return {static_cast<double*>(const_cast<void*>(table.data)) + n * table.n}; }
    double* part(int i) const { return done + 1 + i; }
};

// Of one number from each thread of a block; `sums` is shared memory for one number a warp. For the first warp.
inline double block_sum(double sum, double* sums) {
    const int lane = threadIdx.x & 31, warps = blockDim.x >> 5;
    for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, i);
    if (lane == 0) sums[threadIdx.x >> 5] = sum;
    __syncthreads();
    double total = lane < warps ? sums[lane] : 0.0;
    for (int i = 16; i > 0; i /= 2) total += __shfl_xor_sync(0xffffffffu, total, i);
    return total;
}

// Called by one warp once all parts are there.
inline double all_parts(const Parts& room, int parts) {
    double all = 0.0;
    for (int i = threadIdx.x & 31; i < parts; i += 32) all += __ldcg(room.part(i));
    for (int i = 16; i > 0; i /= 2) all += __shfl_xor_sync(0xffffffffu, all, i);
    return all;
}

// The block that is done last writes the mean.
inline void write_mean(double sum, double* sums, const Parts& room, int part, int parts, double scale, double* mean) {
    const double total = block_sum(sum, sums);
    if (threadIdx.x < 32) {
        double before = 0.0;
        if (threadIdx.x == 0) {
            __stcg(room.part(part), total);
            __threadfence();
            before = atomicAdd(room.done, 1.0);
        }
        if (__shfl_sync(0xffffffffu, before, 0) + 1.0 == static_cast<double>(parts)) {
            __threadfence();
            const double all = all_parts(room, parts);
            if (threadIdx.x == 0) {
                *mean = all * scale;
                *room.done = 0.0;
            }
        }
    }
    __syncthreads();
}

}  // namespace cuaug
