#pragma once

#include "records/soft_nms.cuh"

namespace cuaug {

inline double score_of(const SoftNmsRecord& args, long long n, int i) {
    return read_number(args.scores, n * args.scores.n_stride + i * args.scores.k_stride);
}

// A box whose score is a NaN, or not above the threshold, takes no part. A box with a NaN coordinate comes last: it
// decays no other box and keeps its score.
enum class SoftNmsRole { absent, last, decaying };

inline SoftNmsRole role_of(const SoftNmsRecord& args, long long n, int i) {
    if (!(score_of(args, n, i) > args.score_threshold)) return SoftNmsRole::absent;
    for (int c = 0; c < 4; ++c) {
        const double side =
            read_number(args.boxes, n * args.boxes.n_stride + i * args.boxes.k_stride + c * args.boxes.x_stride);
        if (side != side) return SoftNmsRole::last;
    }
    return SoftNmsRole::decaying;
}

// The factor of a score, by the IoU with a box that has been chosen (Bodla et al. 2017, equations 2 and 3).
inline double decay_factor(const SoftNmsRecord& args, double iou) {
    if (args.gaussian) return exp(-iou * iou / args.sigma);
    return iou > args.iou_threshold ? 1 - iou : 1;
}

// Writes a score in the dtype of `like`.
inline void write_score(const TypedArray& like, void* out, long long offset, double score) {
    switch (like.dtype_code) {
        case 0:
            static_cast<float16*>(out)[offset] = to_float16(static_cast<float>(score));
            break;
        case 1:
            static_cast<bfloat16*>(out)[offset] = to_bfloat16(static_cast<float>(score));
            break;
        case 2:
            static_cast<float*>(out)[offset] = static_cast<float>(score);
            break;
        default:
            static_cast<double*>(out)[offset] = score;
    }
}

}  // namespace cuaug
