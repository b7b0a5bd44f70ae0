#pragma once

#include "records/box_pairs.cuh"

// IoU of upright boxes and its generalizations: GIoU, DIoU and CIoU. R: float or double. _detection/box_iou.py has the
// same formulas as operations on arrays, for torch's autograd and torch.compile.

namespace cuaug {

template <class R>
struct UprightBox {
    R left, top, right, bottom;
    R area;
    R aspect_angle;  // its tangent is width over height; only for CIoU
};

template <class R>
inline UprightBox<R> read_upright_box(const TypedArray& boxes, long long n, long long k, IouKind kind) {
    const long long offset = n * boxes.n_stride + k * boxes.k_stride;
    UprightBox<R> box = {static_cast<R>(read_number(boxes, offset)),
                         static_cast<R>(read_number(boxes, offset + boxes.x_stride)),
                         static_cast<R>(read_number(boxes, offset + 2 * boxes.x_stride)),
                         static_cast<R>(read_number(boxes, offset + 3 * boxes.x_stride)),
                         R(0),
                         R(0)};
    const R width = box.right - box.left, height = box.bottom - box.top;
    box.area = width * height;
    if (kind == IouKind::ciou) box.aspect_angle = atan2(width, height);
    return box;
}

// The smaller and the larger number; NaN if one of them is NaN.
template <class R>
inline R smaller_or_nan(R a, R b) {
    return a < b || a != a ? a : b;
}
template <class R>
inline R larger_or_nan(R a, R b) {
    return a > b || a != a ? a : b;
}

// 0 / 0 is 0.
template <class R>
inline R quotient(R numerator, R denominator) {
    return numerator == R(0) && denominator == R(0) ? R(0) : numerator / denominator;
}

template <IouKind kind, class R>
inline R overlap(const UprightBox<R>& a, const UprightBox<R>& b, R eps) {
    const R width = smaller_or_nan(a.right, b.right) - larger_or_nan(a.left, b.left),
            height = smaller_or_nan(a.bottom, b.bottom) - larger_or_nan(a.top, b.top);
    const R intersection = larger_or_nan(width, R(0)) * larger_or_nan(height, R(0));
    // In this order the union of two equal boxes is their area, also where the compiler fuses multiplications and
    // subtractions: their IoU is 1.
    const R union_area = larger_or_nan(a.area, b.area) + (smaller_or_nan(a.area, b.area) - intersection);
    const R iou = quotient(intersection, union_area);
    if constexpr (kind == IouKind::iou) return iou;

    const R enclosing_width = larger_or_nan(a.right, b.right) - smaller_or_nan(a.left, b.left),
            enclosing_height = larger_or_nan(a.bottom, b.bottom) - smaller_or_nan(a.top, b.top);
    if constexpr (kind == IouKind::giou) {
        const R enclosing_area = enclosing_width * enclosing_height;
        return iou - quotient(enclosing_area - union_area, enclosing_area);
    }
    const R dx = (a.left + a.right - b.left - b.right) / R(2), dy = (a.top + a.bottom - b.top - b.bottom) / R(2);
    const R diou = iou - quotient(dx * dx + dy * dy,
                                  enclosing_width * enclosing_width + enclosing_height * enclosing_height + eps);
    if constexpr (kind == IouKind::diou) return diou;

    const R angle = R(0.63661977236758134) * (a.aspect_angle - b.aspect_angle), v = angle * angle;  // 2 / pi
    return diou - quotient(v * v, R(1) - iou + v + eps);
}

template <class R>
inline R overlap(const UprightBox<R>& a, const UprightBox<R>& b, IouKind kind, R eps) {
    switch (kind) {
        case IouKind::giou:
            return overlap<IouKind::giou>(a, b, eps);
        case IouKind::diou:
            return overlap<IouKind::diou>(a, b, eps);
        case IouKind::ciou:
            return overlap<IouKind::ciou>(a, b, eps);
        default:
            return overlap<IouKind::iou>(a, b, eps);
    }
}

}  // namespace cuaug
