#pragma once

#include "nms_record.cuh"

// Of few boxes, all pairs are compared, and who removes whom is a bit in memory. Nothing is sorted: a box's place by score is how many come before it.

namespace cuaug {

constexpr int nms_few = 1024;     // as many as a block has threads
constexpr int nms_hits_warps = 8;

// For each box, which of 32 others would remove it, by their indices. [N, words, K]
inline unsigned int* nms_hits_of(const Nms& args, long long n, int words) {
    return static_cast<unsigned int*>(args.candidates) + n * words * args.count;
}

// For each box, how many of the others that a block has seen come before it; negative if it takes no part. [N, parts, K]
inline int* nms_ahead_of(const Nms& args, long long n) { return args.kept + n * args.parts * args.count; }

}  // namespace cuaug
