#pragma once

#include "detection/rotated_box.cuh"
#include "records/typed_array.cuh"

namespace cuaug {

// IoU of boxes of two sets, in each of N samples.
struct RotatedIouRecord {
    TypedArray a;  // [N, P, 5]: center x and y, width, height, degrees
    TypedArray b;  // [N, Q, 5]
    void* out;     // [N, P, Q]
    long long samples;
    long long p;
    long long q;
    int out_is_float64;  // else `out` is float32
};

inline RotatedBox read_rotated_box(const TypedArray& boxes, long long n, long long k) {
    const long long offset = n * boxes.n_stride + k * boxes.k_stride;
    return {read_number(boxes, offset), read_number(boxes, offset + boxes.x_stride),
            read_number(boxes, offset + 2 * boxes.x_stride), read_number(boxes, offset + 3 * boxes.x_stride),
            make_rotation(read_number(boxes, offset + 4 * boxes.x_stride))};
}

// NaN if a box has a NaN.
inline double rotated_iou(const RotatedBox& a, const RotatedBox& b) {
    const double sum =
        a.x + a.y + a.width + a.height + a.rotation.cosine + b.x + b.y + b.width + b.height + b.rotation.cosine;
    return sum == sum ? iou(a, b) : sum;
}

}  // namespace cuaug
