#include "detection/nms_small.cuh"
#include "detection/write_index.cuh"
#include "gpu/programmatic_launch.cuh"
#include "gpu/reduce.cuh"

namespace cuaug {

constexpr int nms_small_resolve_warps = nms_small_max / 32;

// One block per sample, one thread per box. Every round, each warp resolves its 32 boxes given the other warps' last
// result, until nothing changes: after k rounds the decisions that depend on a chain of at most k warps are final, and
// few rounds suffice. Then each kept index is written at its rank among those kept. Grid: (samples).
__global__ void __launch_bounds__(nms_small_resolve_warps * 32)
    nms_small_resolve(const __grid_constant__ NmsRecord args) {
    constexpr unsigned int full_warp = 0xffffffffu;
    __shared__ unsigned int kept[2][nms_small_resolve_warps], kept_by_rank[nms_small_resolve_warps];
    const int index = threadIdx.x, lane = index & 31, warp = index >> 5, words = (args.count + 31) / 32,
              parts = nms_small_parts(args);
    const long long n = blockIdx.x;
    const unsigned int* masks = small_overlap_masks_of(args, n, words) + index;
    const int* preceding = preceding_counts_of(args, n) + index;
    // mask[w], bit i: whether box 32 * w + i, of another warp, would suppress the thread's box. warp_mask: the same for
    // the boxes of this warp.
    unsigned int mask[nms_small_resolve_warps], warp_mask = 0;
    wait_for_previous();
    int score_rank = index < args.count ? 0 : -1;
    if (index < args.count) {
        for (int part = 0; part < parts; ++part) score_rank += preceding[part * args.count];
        warp_mask = masks[warp * args.count];
    }
    for (int w = 0; w < nms_small_resolve_warps; ++w)
        mask[w] = w < words && w != warp && index < args.count ? masks[w * args.count] : 0;

    if (index < nms_small_resolve_warps) kept[0][index] = kept[1][index] = kept_by_rank[index] = 0;
    __syncthreads();
    unsigned int warp_kept = __ballot_sync(full_warp, score_rank >= 0);
    if (lane == 0) kept[0][warp] = warp_kept;
    __syncthreads();
    for (int round = 0, changed = 1; changed != 0; ++round) {
        const unsigned int* others = kept[round & 1];
        unsigned int suppressors = 0;
        for (int w = 0; w < nms_small_resolve_warps; ++w) suppressors |= mask[w] & others[w];
        const bool is_removed = score_rank < 0 || suppressors != 0;
        unsigned int now = __ballot_sync(full_warp, !is_removed);
        for (unsigned int last = ~now; now != last;) {
            last = now;
            now = __ballot_sync(full_warp, !is_removed && (warp_mask & last) == 0);
        }
        if (lane == 0) kept[~round & 1][warp] = now;
        changed = __syncthreads_or(now != warp_kept);
        warp_kept = now;
    }

    const bool is_kept = (warp_kept >> lane & 1) != 0;
    if (is_kept) atomicOr(kept_by_rank + score_rank / 32, 1u << (score_rank & 31));
    __syncthreads();
    const ExclusiveSum sum = warp_exclusive_sum(__popc(kept_by_rank[lane]));
    const int total = min(sum.all, args.max_output), before = __shfl_sync(full_warp, sum.before, score_rank >> 5 & 31);
    const long long row = n * args.max_output;
    if (is_kept) {
        const int rank = before + __popc(kept_by_rank[score_rank / 32] & ((1u << (score_rank & 31)) - 1));
        if (rank < args.max_output) write_index(args, args.out, row + rank, index);
    }
    for (int i = total + index; i < args.max_output; i += blockDim.x) write_index(args, args.out, row + i, -1);
    __threadfence();
    __syncthreads();  // the host polls the count, and may reuse the scratch memory as soon as it sees it
    if (index == 0) write_index(args, args.out_counts, n, total);
}

}  // namespace cuaug
