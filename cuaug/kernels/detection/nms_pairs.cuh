#pragma once

#include "records/nms.cuh"

// Where all pairs of boxes are compared, nothing is sorted: the score rank of a box is the number of boxes that precede
// it. Which box would suppress which is a bit in memory.

namespace cuaug {

// Boxes of a part, with which a block of nms_overlap_mask.cu compares others; a word of 32 for each warp.
constexpr int nms_part = 256, nms_part_words = nms_part / 32;
constexpr int nms_max_parts = 64;  // of a sample

inline int nms_box_words(const NmsRecord& args) { return (args.count + 31) / 32; }
inline int nms_parts(const NmsRecord& args) { return (args.count + nms_part - 1) / nms_part; }

// For each box, which of a word's 32 boxes would suppress it; written only where one would. [N, words, K]
inline unsigned int* overlap_masks_of(const NmsRecord& args, long long n) {
    return static_cast<unsigned int*>(args.ranked_boxes) + n * nms_box_words(args) * args.count;
}

// For each box and part. Bits 0 to 15: how many boxes of the part precede it; from bit 16 on: a bit for each word with
// a box that would suppress it; bit 30: whether the box takes no part. [N, parts, K]
constexpr int summary_absent = 1 << 30;
inline int pack_summary(int preceding, bool is_suppressed, int word) {
    return preceding | static_cast<int>(is_suppressed) << (16 + word);
}
inline int summary_preceding(int summary) { return summary & 0xffff; }
inline unsigned int summary_words(int summary) { return summary >> 16 & ((1u << nms_part_words) - 1); }
inline int* part_summaries_of(const NmsRecord& args, long long n) {
    return reinterpret_cast<int*>(args.keys) + n * nms_parts(args) * args.count;
}

}  // namespace cuaug
