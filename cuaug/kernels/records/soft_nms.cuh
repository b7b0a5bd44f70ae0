#pragma once

#include "records/typed_array.cuh"

namespace cuaug {

// Suppression by lowering scores, in each of N samples. Mirrored by cuaug/_soft_nms.py.
struct SoftNms {
    Numbers boxes;    // [N, K, 4]: left, top, right, bottom
    Numbers scores;   // [N, K]
    Numbers counts;   // [N]: of each sample's boxes, how many take part; data null: all
    void* out;        // [N, most]: indices of the boxes, by score when chosen, then -1
    void* decayed;    // [N, most]: their scores, of the kind of `scores`, then 0
    void* found;      // [N]: how many
    double* numbers;  // [N, 6, K]: of those left, their sides, areas and scores
    int* index;       // [N, K]: of those left
    long long samples;
    double iou_threshold;  // of the linear decay
    double sigma;          // of the Gaussian
    double score_threshold;
    int count;  // K
    int most;
    int gaussian;
    int index_bytes;  // 4 or 8, of `out` and `found`
};

inline double score_of(const SoftNms& args, long long n, int i) {
    return read_number(args.scores, n * args.scores.n + i * args.scores.k);
}

// A box whose score is too low takes no part. One with a NaN comes last, leaves all others alone, and keeps its score.
enum class SoftPart { none, last, full };

inline SoftPart part_of(const SoftNms& args, long long n, int i) {
    if (!(score_of(args, n, i) > args.score_threshold)) return SoftPart::none;
    for (int c = 0; c < 4; ++c) {
        const double side = read_number(args.boxes, n * args.boxes.n + i * args.boxes.k + c * args.boxes.x);
        if (side != side) return SoftPart::last;
    }
    return SoftPart::full;
}

// What becomes of a score, by the overlap with a box that has been chosen (Bodla et al. 2017, equations 2 and 3).
inline double kept_share(const SoftNms& args, double iou) {
    if (args.gaussian) return exp(-iou * iou / args.sigma);
    return iou > args.iou_threshold ? 1 - iou : 1;
}

inline void write_score(const Numbers& like, void* to, long long offset, double score) {
    switch (like.kind) {
        case 0:
            static_cast<float16*>(to)[offset] = to_float16(static_cast<float>(score));
            break;
        case 1:
            static_cast<bfloat16*>(to)[offset] = to_bfloat16(static_cast<float>(score));
            break;
        case 2:
            static_cast<float*>(to)[offset] = static_cast<float>(score);
            break;
        default:
            static_cast<double*>(to)[offset] = score;
    }
}

}  // namespace cuaug
