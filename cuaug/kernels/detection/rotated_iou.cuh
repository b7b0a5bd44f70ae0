#pragma once

#include "detection/rotated_box.cuh"
#include "records/typed_array.cuh"

namespace cuaug {

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
