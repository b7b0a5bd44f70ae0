#include "gpu/convert.cuh"
#include "gpu/succession.cuh"
#include "nms_few.cuh"

namespace cuaug {

// What an overlap must at least be for an IoU beyond a threshold t: the share t / (1 + t) of both areas. It is taken a little smaller than rounding
// errors could make it, so that no pair is lost, and all that remain are decided by `suppresses`.
template <class R>
struct Least {
    R share;

    explicit Least(double threshold) : share(static_cast<R>(threshold / (1 + threshold) * (1 - 0x1p-18))) {}

    bool might(const Candidate<R>& a, const Candidate<R>& b) const {
        const R width = fmin(a.right, b.right) - fmax(a.left, b.left), height = fmin(a.bottom, b.bottom) - fmax(a.top, b.top);
        return (width > 0) & (height > 0) & !(width * height < share * a.area + (share * b.area - static_cast<R>(1e-30)));
    }
};

// An infinite area becomes NaN, less than which nothing is: `Least` lets it pass.
template <class R>
inline Candidate<R> finite(Candidate<R> one) {
    one.area += one.area - one.area;
    return one;
}

template <class R>
struct Rival {
    Candidate<R> box;
    NmsKey key;  // its class is compared where boxes overlap
};

template <class R>
inline Rival<R> rival_at(const Nms& args, long long n, int i) {
    if (i >= args.count) return {no_candidate<R>(), no_key()};
    const NmsKey key = nms_key(args, n, i, true);
    return {finite(candidate<R>(args, n, key, 0, 0)), key};
}

// A warp compares 32 boxes, a lane each, with 32 others; the warps of a block have others side by side. Grid: (parts x words x samples).
template <class R>
__global__ void __launch_bounds__(nms_few_warps * 32) nms_few_hits(const __grid_constant__ Nms args) {
    __shared__ Rival<R> rivals[nms_few_warps][32];
    __shared__ int ahead[nms_few_warps][32];
    let_next_begin();
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, words = (args.count + 31) / 32, parts = nms_few_parts(args), part = static_cast<int>(blockIdx.x % parts);
    const long long row = blockIdx.x / parts, n = row / words;
    const int i = static_cast<int>(row - n * words) * 32 + lane, word = part * nms_few_warps + warp, first = 32 * word;
    const Rival<R> own = rival_at<R>(args, n, i);
    rivals[warp][lane] = rival_at<R>(args, n, first + lane);
    __syncwarp();

    const Least<R> least(args.iou_threshold);
    unsigned int before = 0, maybe = 0, hit = 0;
    for (int j = 0; j < 32; ++j) {
        const Rival<R>& other = rivals[warp][j];
        const bool earlier = other.key.score != own.key.score ? other.key.score > own.key.score : first + j < i;
        before |= static_cast<unsigned int>(earlier) << j;
        maybe |= static_cast<unsigned int>(least.might(other.box, own.box)) << j;
    }
    for (maybe &= before; maybe != 0; maybe &= maybe - 1) {
        const int j = __ffs(static_cast<int>(maybe)) - 1;
        const Rival<R>& other = rivals[warp][j];
        if (other.key.group == own.key.group && suppresses(other.box, own.box, args.iou_threshold)) hit |= 1u << j;
    }
    if (i < args.count && word < words) nms_few_hits_of(args, n, words)[word * args.count + i] = hit;

    ahead[warp][lane] = __popc(before);
    __syncthreads();
    if (warp > 0 || i >= args.count) return;
    int sum = 0;
    for (int w = 0; w < nms_few_warps; ++w) sum += ahead[w][lane];
    nms_ahead_of(args, n)[part * args.count + i] = own.key.score > 0 ? sum : -nms_few;
}

}  // namespace cuaug
