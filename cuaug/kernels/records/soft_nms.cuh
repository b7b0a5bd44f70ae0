#pragma once

#include "records/typed_array.cuh"

namespace cuaug {

// Soft-NMS (Bodla et al. 2017) in each of N samples.
struct SoftNmsRecord {
    TypedArray boxes;   // [N, K, 4]: left, top, right, bottom
    TypedArray scores;  // [N, K]
    TypedArray counts;  // [N]: how many of each sample's boxes take part; data null: all
    void* out;          // [N, max_output]: indices of the chosen boxes, in the order of their choice, then -1
    void* out_scores;   // [N, max_output]: their decayed scores, of the dtype of `scores`, then 0
    void* out_counts;   // [N]: how many boxes are chosen
    double* workspace;  // [N, 6, K]: sides, areas and scores of the boxes that decay others
    int* index;         // [N, K]: of these boxes
    long long samples;
    double iou_threshold;  // of the linear decay
    double sigma;          // of the Gaussian
    double score_threshold;
    int count;  // K
    int max_output;
    int gaussian;     // whether the decay is Gaussian; else linear
    int index_bytes;  // 4 or 8, of `out` and `out_counts`
};

}  // namespace cuaug
