#pragma once

#include "../chain.cuh"

// The mean of a sample from the sums of its parts, which blocks make: added up in the same order whichever block is done when.

namespace cuaug {

// In place of a layout: nothing is stored but every sample's mean luma, in the images' own range.
struct MeanLuma {};

// In place of a chain: the ops need no mean of what comes before them.
struct NoMean {
    static constexpr bool empty = true;
    template <class R, int K> using Of = Sequence<R, K>;
};

// A sample's room: how many parts are done, how many blocks have read them, the next block's number (in the first sample's room),
// and the parts. All counts are 0 before and after.
struct Parts {
    double* of;

    double* done() const { return of; }
    double* read() const { return of + 1; }
    double* part(int i) const { return of + 3 + i; }
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
            before = atomicAdd(room.done(), 1.0);
        }
        if (__shfl_sync(0xffffffffu, before, 0) + 1.0 == static_cast<double>(parts)) {
            __threadfence();
            const double all = all_parts(room, parts);
            if (threadIdx.x == 0) {
                *mean = all * scale;
                *room.done() = 0.0;
            }
        }
    }
    __syncthreads();
}

inline void add_part(double sum, double* sums, const Parts& room, int part) {
    const double total = block_sum(sum, sums);
    if (threadIdx.x == 0) {
        __stcg(room.part(part), total);
        __threadfence();
        atomicAdd(room.done(), 1.0);
    }
    __syncthreads();
}

// Until all parts are there, which is safe where all blocks that make them are resident: see `next_block`. The mean is in sums[0].
inline void wait_for_mean(double* sums, const Parts& room, int parts, double scale) {
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            while (*static_cast<volatile double*>(room.done()) != static_cast<double>(parts)) __nanosleep(100);
            __threadfence();
        }
        __syncwarp();
        const double all = all_parts(room, parts);
        if (threadIdx.x == 0) {
            sums[0] = all * scale;
            if (atomicAdd(room.read(), 1.0) + 1.0 == static_cast<double>(parts)) *room.done() = *room.read() = 0.0;
        }
    }
    __syncthreads();
}

// Numbers in the order in which blocks begin, so that no block waits for one that has to wait for its place. Called by one thread.
inline int next_block(const Parts& first, int blocks) {
    const double mine = atomicAdd(first.of + 2, 1.0);
    if (mine + 1.0 == static_cast<double>(blocks)) first.of[2] = 0.0;
    return static_cast<int>(mine);
}

}  // namespace cuaug
