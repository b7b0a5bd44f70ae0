#pragma once

namespace cuaug {

// The sum over all lanes of a warp, in every lane. Called by all lanes.
template <class T>
inline T warp_sum(T value) {
    for (int i = 16; i > 0; i /= 2) value += __shfl_xor_sync(0xffffffffu, value, i);
    return value;
}

// The least value of all lanes of a warp, in every lane. Called by all lanes.
inline int warp_min(int value) {
    for (int i = 16; i > 0; i /= 2) value = min(value, __shfl_xor_sync(0xffffffffu, value, i));
    return value;
}

// The sum over the lanes up to and including the caller's. Called by all lanes.
template <class T>
inline T warp_inclusive_sum(T value) {
    for (int i = 1; i < 32; i *= 2) {
        const T other = __shfl_up_sync(0xffffffffu, value, i);
        if (threadIdx.x % 32 >= i) value += other;
    }
    return value;
}

// The sum over the lanes before the caller's, and over all lanes.
struct ExclusiveSum {
    int before, all;
};

inline ExclusiveSum warp_exclusive_sum(int value) {
    const int sum = warp_inclusive_sum(value);
    return {sum - value, __shfl_sync(0xffffffffu, sum, 31)};
}

// How many threads of the block before this one have `flag` set, and how many threads of the block.
struct BlockRank {
    int before, total;
};

// Called by all threads of a block of `warps` warps.
template <int warps>
inline BlockRank block_rank(bool flag) {
    __shared__ int warp_counts[warps];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const unsigned int lanes = __ballot_sync(0xffffffffu, flag);
    __syncthreads();
    if (lane == 0) warp_counts[warp] = __popc(lanes);
    __syncthreads();
    BlockRank rank = {__popc(lanes & ((1u << lane) - 1)), 0};
    for (int w = 0; w < warps; ++w) {
        if (w < warp) rank.before += warp_counts[w];
        rank.total += warp_counts[w];
    }
    return rank;
}

// Stores a block's part of a mean: the sum of its threads' `sum` times `scale`, always added in the same order. Called
// by all threads of a block of whole warps. `sums`: shared memory for one number per warp; the caller needs a barrier
// before its next use.
template <class R>
inline void store_block_sum(R sum, R* sums, double scale, double* partial_mean) {
    sum = warp_sum(sum);
    if ((threadIdx.x & 31) == 0) sums[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    double total = 0.0;
    for (int i = 0; i < blockDim.x >> 5; ++i) total += static_cast<double>(sums[i]);
    *partial_mean = total * scale;
}

}  // namespace cuaug
