#include "gpu/convert.cuh"
#include "nms_few.cuh"

namespace cuaug {

// By score alone: classes are compared where boxes overlap.
struct ScoreKey {
    unsigned long long score;
    int index;
};

inline bool before(const ScoreKey& a, const ScoreKey& b) { return a.score != b.score ? a.score > b.score : a.index < b.index; }

inline ScoreKey exchanged(const ScoreKey& key, int apart) {
    return {__shfl_xor_sync(0xffffffffu, key.score, apart), __shfl_xor_sync(0xffffffffu, key.index, apart)};
}

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

}  // namespace cuaug

#include "gpu/bitonic.cuh"

namespace cuaug {

// Each block of a sample sorts all of its boxes, a thread each, as that takes less time than to wait for one that does; then its warps take squares of 32 x
// 32 pairs in turn, a lane one box against 32 before it. The first block writes the indices by score. Grid: (parts x samples).
template <class R>
__global__ void __launch_bounds__(nms_few<R>, 1) nms_hits(const __grid_constant__ Nms args) {
    __shared__ Candidate<R> sorted[nms_few<R>];
    __shared__ union {
        ScoreKey keys[nms_few<R>];
        long long groups[nms_few<R>];
    } shared;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5, words = (args.count + 31) / 32;
    const long long n = blockIdx.x / args.parts;
    const int part = static_cast<int>(blockIdx.x - n * args.parts), place = threadIdx.x;
    const bool classes = args.classes.data != nullptr;

    ScoreKey key = {0, 0x7fffffff};
    if (place < args.count) key = {nms_key(args, n, place, false).score, place};
    key = bitonic(key, shared.keys);
    sorted[place] = place < args.count ? finite(candidate<R>(args, n, {key.score, 0, key.index, 0}, place, 0)) : no_candidate<R>();
    if (classes && place < args.count) shared.groups[place] = read_whole(args.classes, n * args.classes.n + key.index * args.classes.k);
    if (part == 0 && place < args.count) args.kept[n * args.count + place] = key.score > 0 ? key.index : -1;
    __syncthreads();

    const Least<R> least(args.iou_threshold);
    unsigned int* hits = nms_hits_of(args, n, words);
    for (int square = part * warps + warp; square < words * (words + 1) / 2; square += args.parts * warps) {
        int row = 0, column = square;
        while (column > row) column -= ++row;
        const int i = 32 * row + lane, first = 32 * column;
        const Candidate<R> own = sorted[i];
        unsigned int maybe = 0, hit = 0;
        for (int j = 0; j < 32; ++j) maybe |= static_cast<unsigned int>(least.might(sorted[first + j], own)) << j;
        if (row == column) maybe &= (1u << lane) - 1;
        for (; maybe != 0; maybe &= maybe - 1) {
            const int j = __ffs(static_cast<int>(maybe)) - 1;
            const bool alike = !classes || shared.groups[first + j] == shared.groups[i];
            if (alike && suppresses(sorted[first + j], own, args.iou_threshold)) hit |= 1u << j;
        }
        if (i < args.count) hits[column * args.count + i] = hit;
    }
}

}  // namespace cuaug
