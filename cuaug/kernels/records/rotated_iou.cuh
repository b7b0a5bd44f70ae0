#pragma once

#include "records/typed_array.cuh"
#include "detection/rotated_box.cuh"

namespace cuaug {

// Overlaps of boxes of two sets, in each of N samples. Mirrored by cuaug/_rotated.py.
struct RotatedIou {
    Numbers a;  // [N, P, 5]: centre x and y, width, height, degrees
    Numbers b;  // [N, Q, 5]
    void* out;  // [N, P, Q]
    long long samples;
    long long p;
    long long q;
    int float64;  // whether `out` is; else float32
};

inline RotatedBox read_rotated(const Numbers& boxes, long long n, long long k) {
    const long long at = n * boxes.n + k * boxes.k;
    return {read_number(boxes, at), read_number(boxes, at + boxes.x), read_number(boxes, at + 2 * boxes.x),
            read_number(boxes, at + 3 * boxes.x), turn(read_number(boxes, at + 4 * boxes.x))};
}

// NaN if one of the boxes has one.
inline double rotated_iou(const RotatedBox& a, const RotatedBox& b) {
    const double sum = a.x + a.y + a.width + a.height + a.turn.cosine + b.x + b.y + b.width + b.height + b.turn.cosine;
    return sum == sum ? overlap(a, b) : sum;
}

}  // namespace cuaug
