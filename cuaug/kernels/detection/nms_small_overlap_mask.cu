#include "detection/nms_candidate.cuh"
#include "detection/nms_small.cuh"
#include "gpu/convert.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

// A warp compares 32 boxes, one per lane, with a word of 32 other boxes. The warps of a block have the same boxes in
// their lanes, and consecutive words of other boxes. Grid: (parts x words x samples).
template <class R>
__global__ void __launch_bounds__(nms_small_warps * 32) nms_small_overlap_mask(const __grid_constant__ NmsRecord args) {
    __shared__ Candidate<R> others[nms_small_warps][32];
    __shared__ int preceding_counts[nms_small_warps][32];
    allow_next_launch();
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, words = (args.count + 31) / 32,
              parts = nms_small_parts(args), part = static_cast<int>(blockIdx.x % parts);
    const long long row = blockIdx.x / parts, n = row / words;
    const int i = static_cast<int>(row - n * words) * 32 + lane, word = part * nms_small_warps + warp,
              first = 32 * word;
    const Candidate<R> lane_box = load_candidate<R>(args, n, i);
    others[warp][lane] = load_candidate<R>(args, n, first + lane);
    __syncwarp();

    const OverlapBound<R> overlap(args.iou_threshold, lane_box.area);
    unsigned int preceding = 0, disjoint = 0, mask = 0;
    for (int j = 31; j >= 0; --j) {
        const Candidate<R>& other = others[warp][j];
        const bool other_precedes = first + j < i ? other.score >= lane_box.score : other.score > lane_box.score;
        preceding = preceding << 1 | static_cast<unsigned int>(other_precedes);
        disjoint = __funnelshift_l(overlap.sign_if_below(lane_box, other), disjoint, 1);
    }
    for (unsigned int rest = preceding & ~disjoint; rest != 0; rest &= rest - 1) {
        const int j = __ffs(static_cast<int>(rest)) - 1;
        const Candidate<R>& other = others[warp][j];
        if (other.class_id == lane_box.class_id && suppresses(other.box(), lane_box.box(), args.iou_threshold))
            mask |= 1u << j;
    }
    if (i < args.count && word < words) small_overlap_masks_of(args, n, words)[word * args.count + i] = mask;

    preceding_counts[warp][lane] = __popc(preceding);
    __syncthreads();
    if (warp > 0 || i >= args.count) return;
    int sum = 0;
    for (int w = 0; w < nms_small_warps; ++w) sum += preceding_counts[w][lane];
    preceding_counts_of(args, n)[part * args.count + i] = lane_box.score > 0 ? sum : -nms_small_max;
}

}  // namespace cuaug
