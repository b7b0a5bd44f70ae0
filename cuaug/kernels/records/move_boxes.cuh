#pragma once

#include "records/typed_array.cuh"

namespace cuaug {

// A map of points in pixels with centres at integers, and the canvas that it leads to. Rectangles are left, top, right,
// bottom, in pixels from the corner of their canvas.
struct BoxMove {
    TypedArray matrices;      // [N, 3, 3]
    TypedArray source_boxes;  // what the map reads of the canvas before it [N, 4]; null: all of it
    TypedArray canvases;      // of each sample [N, 4]; null: `canvas` is that of all samples
    double canvas[4];
    int is_affine;           // whether every matrix is
    int is_scale_and_shift;  // whether every matrix is a positive scale of each axis, and a shift
};

enum BoxFormat { xyxy, xywh, cxcywh };

constexpr int max_box_moves = 4;

// Moves upright boxes as the pixels of their samples move, and finds the valid ones (detection/move_boxes.cuh).
struct MoveBoxesRecord {
    BoxMove move[max_box_moves];
    TypedArray boxes;              // [rows, boxes_per_row, 4]
    const long long* row_samples;  // the sample of each row; null: row n is sample n [rows]
    TypedArray given_valid;        // bool, false: the box is invalid already; null: no box is [rows, boxes_per_row]
    void* out;                     // in the dtype of `boxes` [rows, boxes_per_row, 4]
    unsigned char* valid;          // [rows, boxes_per_row]
    long long rows;
    long long boxes_per_row;
    double min_area;
    double min_visibility;
    int move_count;
    int format;  // a BoxFormat
};

}  // namespace cuaug
