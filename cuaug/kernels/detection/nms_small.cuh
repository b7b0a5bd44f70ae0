#pragma once

#include "records/nms.cuh"

// Small samples: all pairs are compared as for larger ones (nms_pairs.cuh), but a block compares one word with a part
// instead of two to eight words, and one block resolves a sample: 11.5 us for 1,000 boxes, where the kernels for larger
// samples take 18.4 us. [H200]

namespace cuaug {

constexpr int nms_small_max = 1024;  // boxes of a sample: a thread each
constexpr int nms_small_warps = 8;

// The boxes of a sample are divided into parts of 8 words of 32 boxes. A block compares one word with one part.
inline int nms_small_parts(const NmsRecord& args) {
    return ((args.count + 31) / 32 + nms_small_warps - 1) / nms_small_warps;
}

// For each box, which of a word's 32 boxes would suppress it; bit i: the box of index 32 * word + i. [N, words, K], in
// the memory of `ranked_boxes`.
inline unsigned int* small_overlap_masks_of(const NmsRecord& args, long long n, int words) {
    return static_cast<unsigned int*>(args.ranked_boxes) + n * words * args.count;
}

// For each box and part, how many boxes of the part precede it; negative if the box is absent (its NmsSortKey
// has the score 0). [N, parts, K], in the memory of `kept`.
inline int* preceding_counts_of(const NmsRecord& args, long long n) {
    return args.kept + n * nms_small_parts(args) * args.count;
}

}  // namespace cuaug
