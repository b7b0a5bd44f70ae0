#pragma once

#include "detection/nms_boxes.cuh"
#include "detection/write_index.cuh"
#include "gpu/reduce.cuh"

namespace cuaug {

// Writes the indices of a sample's kept boxes, in the order of their scores, and their number. Called by all threads of
// a block: a warp compacts 512 ranks at a time and loads all of them at once.
inline void write_output(const NmsRecord& args, long long n) {
    constexpr int loads = 16, warp_ranks = 32 * loads;
    __shared__ int warp_counts[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const volatile int* kept = args.kept + n * args.count;  // volatile: other blocks have written it
    const long long row = n * args.max_output;
    int total = 0;
    for (int first = 0; first < args.count && total < args.max_output; first += warps * warp_ranks) {
        int index[loads], before[loads], count = 0;
        for (int i = 0; i < loads; ++i) {
            const int rank = first + warp * warp_ranks + 32 * i + lane;
            index[i] = rank < args.count ? kept[rank] : -1;
        }
        for (int i = 0; i < loads; ++i) {
            const unsigned int lanes = __ballot_sync(0xffffffffu, index[i] >= 0);
            before[i] = count + __popc(lanes & ((1u << lane) - 1));
            count += __popc(lanes);
        }
        if (lane == 0) warp_counts[warp] = count;
        __syncthreads();
        const ExclusiveSum sum = warp_exclusive_sum(lane < warps ? warp_counts[lane] : 0);
        const int offset = total + __shfl_sync(0xffffffffu, sum.before, warp);
        total += sum.all;
        for (int i = 0; i < loads; ++i)
            if (index[i] >= 0 && offset + before[i] < args.max_output)
                write_index(args, args.out, row + offset + before[i], index[i]);
        __syncthreads();
    }
    total = min(total, args.max_output);
    for (int i = total + threadIdx.x; i < args.max_output; i += blockDim.x) write_index(args, args.out, row + i, -1);
    __threadfence();
    __syncthreads();  // the host polls the count, and may reuse the scratch memory as soon as it sees it
    if (threadIdx.x == 0) write_index(args, args.out_counts, n, total);
}

}  // namespace cuaug
