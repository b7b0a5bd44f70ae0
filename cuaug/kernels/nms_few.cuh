#pragma once

#include "nms_record.cuh"

// Of few boxes, all pairs are compared, and who removes whom is a bit in memory: as many boxes as a block has threads.

namespace cuaug {

// As many as fit into 48 KiB.
template <class R>
constexpr int nms_few = Same<R, float>::value ? 1024 : 512;

// For each box, by score, which of 32 before it would remove it. [N, words, K]
inline unsigned int* nms_hits_of(const Nms& args, long long n, int words) {
    return static_cast<unsigned int*>(args.candidates) + n * words * args.count;
}

}  // namespace cuaug
