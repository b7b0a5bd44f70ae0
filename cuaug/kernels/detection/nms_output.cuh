#pragma once

#include "gpu/reduce.cuh"
#include "records/nms.cuh"

namespace cuaug {

// Writes a sample's indices in the order of their scores. All threads of a block: a warp has 512 places at a time, all
// of them asked for at once.
inline void write_kept(const Nms& args, long long n) {
    constexpr int turns = 16, run = 32 * turns;
    __shared__ int sums[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    const volatile int* kept = args.kept + n * args.count;
    const long long row = n * args.most;
    int total = 0;
    for (int first = 0; first < args.count && total < args.most; first += warps * run) {
        int index[turns], before[turns], own = 0;
        for (int i = 0; i < turns; ++i) {
            const int place = first + warp * run + 32 * i + lane;
            index[i] = place < args.count ? kept[place] : -1;
        }
        for (int i = 0; i < turns; ++i) {
            const unsigned int all = __ballot_sync(0xffffffffu, index[i] >= 0);
            before[i] = own + __popc(all & ((1u << lane) - 1));
            own += __popc(all);
        }
        if (lane == 0) sums[warp] = own;
        __syncthreads();
        const Scanned found = scanned(lane < warps ? sums[lane] : 0);
        const int to = total + __shfl_sync(0xffffffffu, found.before, warp);
        total += found.all;
        for (int i = 0; i < turns; ++i)
            if (index[i] >= 0 && to + before[i] < args.most)
                write_index(args, args.out, row + to + before[i], index[i]);
        __syncthreads();
    }
    total = min(total, args.most);
    for (int i = total + threadIdx.x; i < args.most; i += blockDim.x) write_index(args, args.out, row + i, -1);
    __threadfence();
    __syncthreads();  // the host looks at the number, and takes all else for written
    if (threadIdx.x == 0) write_index(args, args.found, n, total);
}

}  // namespace cuaug
