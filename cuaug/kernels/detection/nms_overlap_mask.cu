#include "gpu/convert.cuh"
#include "gpu/programmatic_launch.cuh"
#include "detection/nms_pairs.cuh"
#include "detection/nms_candidate.cuh"

namespace cuaug {

constexpr int nms_at_once = 2;  // boxes of a lane: what it reads of another serves both

// A block compares some words of boxes with a part of them: a warp's lanes have a box of a word each, `nms_at_once`
// words at a time, and meet those of the warp's own word of the part, one after the other. Grid: (parts x own words /
// own_words x samples).
template <class R>
__global__ void __launch_bounds__(nms_part, is_same_v<R, float> ? 4 : 1)
    nms_overlap_mask(const __grid_constant__ Nms args) {
    __shared__ Rival<R> rivals[nms_part], owns[nms_part];
    __shared__ int found[nms_part];
    let_next_begin();
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, words = nms_pair_words(args), parts = nms_parts(args),
              rows = (words + args.own_words - 1) / args.own_words;
    const int part = static_cast<int>(blockIdx.x % parts), row = static_cast<int>(blockIdx.x / parts % rows);
    const long long n = blockIdx.x / parts / rows;
    const int first = 32 * args.own_words * row, own_at = first + threadIdx.x, other_at = nms_part * part + 32 * warp;
    const bool owning = threadIdx.x < 32 * args.own_words;

    // What detection/nms_resolve.cu counts with.
    const long long thread = static_cast<long long>(blockIdx.x) * nms_part + threadIdx.x;
    if (thread < args.samples * words) args.published[thread] = 0;
    if (thread < args.samples) args.state[1 + thread] = 0;

    rivals[threadIdx.x] = rival_at<R>(args, n, nms_part * part + threadIdx.x);
    if (owning) owns[threadIdx.x] = rival_at<R>(args, n, own_at);
    found[threadIdx.x] = 0;
    __syncthreads();

    const Rival<R>* others = rivals + 32 * warp;
    for (int word = 0; word < args.own_words; word += nms_at_once) {
        const Rival<R> own[nms_at_once] = {owns[32 * word + lane], owns[32 * word + 32 + lane]};
        const Least<R> least[nms_at_once] = {{args.iou_threshold, own[0].area}, {args.iou_threshold, own[1].area}};
        // Of equal scores, those of words before come before; within a word, by the lane, which is rare and looked at
        // apart.
        unsigned long long bound[nms_at_once];
        unsigned int apart[nms_at_once];
        float before[nms_at_once] = {};  // a count, as floats are added at twice the rate
        for (int r = 0; r < nms_at_once; ++r) bound[r] = own[r].score + (other_at >= first + 32 * (word + r));
#pragma unroll 8
        for (int j = 31; j >= 0; --j)
            for (int r = 0; r < nms_at_once; ++r) {
                apart[r] = __funnelshift_l(least[r].short_of(own[r], others[j]), apart[r], 1);
                if (others[j].score >= bound[r]) before[r] += 1.0f;
            }
        for (int r = 0; r < nms_at_once; ++r) {
            const int at = 32 * (word + r) + lane;
            const Rival<R>& mine = owns[at];  // again, and not from registers
            const unsigned long long mine_bound = bound[r];
            int ahead = static_cast<int>(before[r]);
            unsigned int hit = 0;
            for (unsigned int left = ~apart[r]; left != 0; left &= left - 1) {
                const int j = __ffs(static_cast<int>(left)) - 1;
                const Rival<R>& other = others[j];
                const bool earlier =
                    other.score >= mine_bound || (other.score == mine.score && other_at + j < first + at);
                if (earlier && other.group == mine.group && suppresses(other.box(), mine.box(), args.iou_threshold))
                    hit |= left & -left;
            }
            if (other_at == first + 32 * (word + r))
                for (int j = 0; j < lane; ++j) ahead += others[j].score == mine.score;
            if (hit != 0) nms_hits_of(args, n)[other_at / 32 * args.count + first + at] = hit;
            atomicAdd(found + at, found_in_part(ahead, hit != 0, warp));
        }
    }
    __syncthreads();
    if (owning && own_at < args.count)
        nms_found_of(args, n)[part * args.count + own_at] =
            found[threadIdx.x] | (owns[threadIdx.x].score == 0 ? nms_absent : 0);
}

}  // namespace cuaug
