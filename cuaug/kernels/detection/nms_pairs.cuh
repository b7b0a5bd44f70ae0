#pragma once

#include "records/nms.cuh"

// Where all pairs of boxes are compared, nothing is sorted: a box's place by score is how many come before it. Who
// would remove whom is a bit in memory.

namespace cuaug {

constexpr int nms_part = 256,
              nms_part_words = nms_part / 32;  // boxes that a block of detection/nms_overlap_mask.cu compares others
                                               // with: a word of 32 for each warp
constexpr int nms_most_parts = 64;             // of a sample

inline int nms_pair_words(const Nms& args) { return (args.count + 31) / 32; }
inline int nms_parts(const Nms& args) { return (args.count + nms_part - 1) / nms_part; }

// Of each box, which of a word's 32 would remove it; written where one would. [N, words, K]
inline unsigned int* nms_hits_of(const Nms& args, long long n) {
    return static_cast<unsigned int*>(args.candidates) + n * nms_pair_words(args) * args.count;
}

// Of each box, what was found in a part: how many come before it, above that a bit for each word with one that would
// remove it, and whether the box takes no part at all. [N, parts, K]
constexpr int nms_absent = 1 << 30;
inline int found_in_part(int before, bool any, int word) { return before | static_cast<int>(any) << (16 + word); }
inline int before_of(int found) { return found & 0xffff; }
inline unsigned int words_of(int found) { return found >> 16 & ((1u << nms_part_words) - 1); }
inline int* nms_found_of(const Nms& args, long long n) {
    return reinterpret_cast<int*>(args.keys) + n * nms_parts(args) * args.count;
}

}  // namespace cuaug
