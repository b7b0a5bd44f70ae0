#include "detection/nms_candidate.cuh"
#include "detection/nms_pairs.cuh"
#include "gpu/convert.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

constexpr int nms_boxes_per_lane = 2;  // boxes of a lane, compared with each box loaded from shared memory

// A block compares `words_per_block` words of 32 boxes with a part of 256 boxes (nms_pairs.cuh). A lane has one box of
// each of `nms_boxes_per_lane` words at a time, and compares them with the 32 boxes of its warp's word of the part, one
// after the other. Grid: (parts x words / words_per_block x samples).
template <class R>
__global__ void __launch_bounds__(nms_part, is_same_v<R, float> ? 4 : 1)
    nms_overlap_mask(const __grid_constant__ NmsRecord args) {
    __shared__ Candidate<R> part_boxes[nms_part], block_boxes[nms_part];
    __shared__ int summaries[nms_part];
    allow_next_launch();
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, words = nms_box_words(args), parts = nms_parts(args),
              rows = (words + args.words_per_block - 1) / args.words_per_block;
    const int part = static_cast<int>(blockIdx.x % parts), row = static_cast<int>(blockIdx.x / parts % rows);
    const long long n = blockIdx.x / parts / rows;
    const int first = 32 * args.words_per_block * row, box_index = first + threadIdx.x,
              other_first = nms_part * part + 32 * warp;
    const bool has_box = threadIdx.x < 32 * args.words_per_block;

    // Cleared for nms_resolve.cu.
    const long long thread = static_cast<long long>(blockIdx.x) * nms_part + threadIdx.x;
    if (thread < args.samples * words) args.decisions[thread] = 0;
    if (thread < args.samples) args.block_counts[1 + thread] = 0;

    part_boxes[threadIdx.x] = load_candidate<R>(args, n, nms_part * part + threadIdx.x);
    if (has_box) block_boxes[threadIdx.x] = load_candidate<R>(args, n, box_index);
    summaries[threadIdx.x] = 0;
    __syncthreads();

    const Candidate<R>* others = part_boxes + 32 * warp;
    for (int word = 0; word < args.words_per_block; word += nms_boxes_per_lane) {
        const Candidate<R> lane_boxes[nms_boxes_per_lane] = {block_boxes[32 * word + lane],
                                                             block_boxes[32 * word + 32 + lane]};
        const OverlapBound<R> overlap[nms_boxes_per_lane] = {{args.iou_threshold, lane_boxes[0].area},
                                                             {args.iou_threshold, lane_boxes[1].area}};
        // Of boxes with equal scores, those of earlier words precede. Within a word, those of lower lanes precede: the
        // loops over `rest` and over the lower lanes handle this rare case.
        unsigned long long min_score[nms_boxes_per_lane];  // of a box that precedes
        unsigned int disjoint[nms_boxes_per_lane];
        float preceding[nms_boxes_per_lane] = {};  // a count: floats are added at twice the rate of integers
        for (int r = 0; r < nms_boxes_per_lane; ++r)
            min_score[r] = lane_boxes[r].score + (other_first >= first + 32 * (word + r));
#pragma unroll 8
        for (int j = 31; j >= 0; --j)
            for (int r = 0; r < nms_boxes_per_lane; ++r) {
                disjoint[r] = __funnelshift_l(overlap[r].sign_if_below(lane_boxes[r], others[j]), disjoint[r], 1);
                if (others[j].score >= min_score[r]) preceding[r] += 1.0f;
            }
        for (int r = 0; r < nms_boxes_per_lane; ++r) {
            const int offset = 32 * (word + r) + lane;
            // Loaded again, so that `lane_boxes` occupies no registers here.
            const Candidate<R>& box = block_boxes[offset];
            const unsigned long long box_min_score = min_score[r];
            int count = static_cast<int>(preceding[r]);
            unsigned int mask = 0;
            for (unsigned int rest = ~disjoint[r]; rest != 0; rest &= rest - 1) {
                const int j = __ffs(static_cast<int>(rest)) - 1;
                const Candidate<R>& other = others[j];
                const bool other_precedes =
                    other.score >= box_min_score || (other.score == box.score && other_first + j < first + offset);
                if (other_precedes && other.class_id == box.class_id &&
                    suppresses(other.box(), box.box(), args.iou_threshold))
                    mask |= rest & -rest;
            }
            if (other_first == first + 32 * (word + r))
                for (int j = 0; j < lane; ++j) count += others[j].score == box.score;
            if (mask != 0) overlap_masks_of(args, n)[other_first / 32 * args.count + first + offset] = mask;
            atomicAdd(summaries + offset, pack_summary(count, mask != 0, warp));
        }
    }
    __syncthreads();
    if (has_box && box_index < args.count)
        part_summaries_of(args, n)[part * args.count + box_index] =
            summaries[threadIdx.x] | (block_boxes[threadIdx.x].score == 0 ? summary_absent : 0);
}

}  // namespace cuaug
