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
    // Null for all kernels of a call but the last.
    void* out;         // [N, max_output]: indices of the boxes kept, by score, then -1
    void* out_counts;  // [N]: how many are returned; written last: the host may then reuse the memory below
    // Scratch memory, as sorted boxes use it: tiles and words are as many as K boxes need. If all pairs are compared,
    // detection/nms_pairs.cuh and nms_small.cuh say what lies in `keys`, `ranked_boxes` and `kept`.
    NmsSortKey* keys;    // [1 or 2, N, tiles, nms_tile]: by class and score; if there are classes, also by score
    void* ranked_boxes;  // [N, K] RankedBox
    unsigned long long* decisions;  // [N, words]: low half: which of 32 boxes are kept; high half: which are decided
    int* kept;                      // [N, K]: by score rank, the box's index, or -1 if it is not kept
    int* block_counts;              // [1 + N]: blocks of nms.cu that have begun; blocks of each sample that are done
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

// Boxes of a tile, which a block of nms_sort.cu sorts; boxes of a block of nms.cu, and words of 32 boxes in them.
constexpr int nms_tile = 1024, nms_block = 64, nms_words = nms_block / 32;

}  // namespace cuaug
