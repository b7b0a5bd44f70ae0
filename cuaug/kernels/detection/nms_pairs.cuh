#pragma once

#include "records/nms.cuh"

// The memory of nms_overlap_mask.cu, which compares all pairs of a sample's boxes, and of nms_resolve.cu, which reads
// the results. Samples of up to 1,024 boxes have other kernels (nms_small.cuh). Nothing is sorted: the score rank of a
// box is the number of boxes that precede it. Masks have a bit for each pair: whether one box would suppress the other.

namespace cuaug {

// The K boxes of a sample are divided into parts of 256, and a part into words of 32 boxes, one bit of a mask each. A
// block of nms_overlap_mask.cu compares its boxes with one part: each of its warps, with one word of the part.
constexpr int nms_part = 256, nms_part_words = nms_part / 32;
constexpr int nms_max_parts = 64;  // of a sample, as it has at most 2^28 pairs (MAX_PAIRS of _detection/nms_plan.py)

inline int nms_box_words(const NmsRecord& args) { return (args.count + 31) / 32; }
inline int nms_parts(const NmsRecord& args) { return (args.count + nms_part - 1) / nms_part; }

// For each box, which of a word's 32 boxes would suppress it; written only where one would. [N, words, K], in the
// memory of `ranked_boxes`, which only sorted boxes need.
inline unsigned int* overlap_masks_of(const NmsRecord& args, long long n) {
    return static_cast<unsigned int*>(args.ranked_boxes) + n * nms_box_words(args) * args.count;
}

// For each box and part. Bits 0 to 15: how many boxes of the part precede it; bits 16 to 23: which words of the part
// have a box that would suppress it; bit 30: the box is absent (its NmsSortKey has the score 0). [N, parts, K], in the
// memory of `keys`.
constexpr int summary_absent = 1 << 30;
inline int pack_summary(int preceding, bool has_suppressor, int word) {
    return preceding | static_cast<int>(has_suppressor) << (16 + word);
}
inline int summary_preceding(int summary) { return summary & 0xffff; }
inline unsigned int summary_words(int summary) { return summary >> 16 & ((1u << nms_part_words) - 1); }
inline int* part_summaries_of(const NmsRecord& args, long long n) {
    return reinterpret_cast<int*>(args.keys) + n * nms_parts(args) * args.count;
}

}  // namespace cuaug
