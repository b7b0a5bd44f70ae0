#include "gpu/convert.cuh"
#include "gpu/programmatic_launch.cuh"
#include "detection/nms_small.cuh"
#include "detection/nms_candidate.cuh"

namespace cuaug {

// A warp compares 32 boxes, a lane each, with 32 others; the warps of a block have others side by side. Grid: (parts x
// words x samples).
template <class R>
__global__ void __launch_bounds__(nms_few_warps * 32) nms_small_overlap_mask(const __grid_constant__ Nms args) {
    __shared__ Rival<R> rivals[nms_few_warps][32];
    __shared__ int ahead[nms_few_warps][32];
    let_next_begin();
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, words = (args.count + 31) / 32,
              parts = nms_few_parts(args), part = static_cast<int>(blockIdx.x % parts);
    const long long row = blockIdx.x / parts, n = row / words;
    const int i = static_cast<int>(row - n * words) * 32 + lane, word = part * nms_few_warps + warp, first = 32 * word;
    const Rival<R> own = rival_at<R>(args, n, i);
    rivals[warp][lane] = rival_at<R>(args, n, first + lane);
    __syncwarp();

    const Least<R> least(args.iou_threshold, own.area);
    unsigned int before = 0, apart = 0, hit = 0;
    for (int j = 31; j >= 0; --j) {
        const Rival<R>& other = rivals[warp][j];
        const bool earlier = first + j < i ? other.score >= own.score : other.score > own.score;
        before = before << 1 | static_cast<unsigned int>(earlier);
        apart = __funnelshift_l(least.short_of(own, other), apart, 1);
    }
    for (unsigned int left = before & ~apart; left != 0; left &= left - 1) {
        const int j = __ffs(static_cast<int>(left)) - 1;
        const Rival<R>& other = rivals[warp][j];
        if (other.group == own.group && suppresses(other.box(), own.box(), args.iou_threshold)) hit |= 1u << j;
    }
    if (i < args.count && word < words) nms_few_hits_of(args, n, words)[word * args.count + i] = hit;

    ahead[warp][lane] = __popc(before);
    __syncthreads();
    if (warp > 0 || i >= args.count) return;
    int sum = 0;
    for (int w = 0; w < nms_few_warps; ++w) sum += ahead[w][lane];
    nms_ahead_of(args, n)[part * args.count + i] = own.score > 0 ? sum : -nms_few;
}

}  // namespace cuaug
