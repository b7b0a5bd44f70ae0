#pragma once

#include "records/nms.cuh"

// Few boxes are compared all with all, as others are (detection/nms_pairs.cuh), but in smaller pieces, and a block
// settles a sample alone: 11.5 us for 1,000, where the kernels for more take 18.4. [H200]

namespace cuaug {

constexpr int nms_few = 1024;  // as many as a block has threads
constexpr int nms_few_warps = 8;

// Blocks that share the others of 32 boxes.
inline int nms_few_parts(const Nms& args) { return ((args.count + 31) / 32 + nms_few_warps - 1) / nms_few_warps; }

// For each box, which of 32 others would remove it, by their indices. [N, words, K]
inline unsigned int* nms_few_hits_of(const Nms& args, long long n, int words) {
    return static_cast<unsigned int*>(args.candidates) + n * words * args.count;
}

// For each box, how many of the others that a block has seen come before it; negative if it takes no part. [N, parts,
// K]
inline int* nms_ahead_of(const Nms& args, long long n) { return args.kept + n * nms_few_parts(args) * args.count; }

}  // namespace cuaug
