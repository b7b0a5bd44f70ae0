#pragma once

#include "records/typed_array.cuh"

namespace cuaug {

struct NmsSortKey;  // detection/nms_boxes.cuh

// Greedy suppression in each of N samples.
struct NmsRecord {
    TypedArray boxes;    // [N, K, 4]: left, top, right, bottom; [N, K, 5]: center x and y, width, height, degrees
    TypedArray scores;   // [N, K]
    TypedArray classes;  // [N, K]; data null: all are of one class
    TypedArray counts;   // [N]: how many of each sample's boxes take part; data null: all
    void* out;           // [N, max_output]: indices of the boxes kept, by score, then -1; set for the last kernel only
    void* out_counts;  // [N]: how many are kept; written last: the host may then reuse the memory of the pointers below
    NmsSortKey* keys;  // [2, N, tiles, nms_tile]: by class and score, and by score; if all pairs are compared, the part
                       // summaries of detection/nms_pairs.cuh
    void* ranked_boxes;             // [N, K] RankedBox; if all pairs are compared, overlap masks
    unsigned long long* decisions;  // [N, words]: low half: which of 32 boxes are kept; high half: which are decided
    int* kept;                      // [N, K]: by score, the box's index, or -1
    int* block_counts;              // [1 + N]: blocks that have begun; blocks of each sample that are done
    long long samples;
    double iou_threshold;
    double score_threshold;
    int count;  // K
    int max_output;
    int has_score_threshold;
    int index_bytes;  // 4 or 8, of `out` and `out_counts`
    int rotated;
    int words_per_block;  // if all pairs are compared: words of 32 boxes that a block compares with others; 2, 4, 6, 8
};

// Boxes of a tile that a block sorts; boxes of a block that suppresses, and its words of 32 boxes.
constexpr int nms_tile = 1024, nms_block = 64, nms_words = nms_block / 32;

}  // namespace cuaug
