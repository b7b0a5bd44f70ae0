#pragma once

#include "detection/rotated_iou.cuh"
#include "detection/upright_iou.cuh"
#include "../dispatch.hpp"

namespace cuaug {

// Compares one box of the first set with all boxes of the second.
inline void rotated_iou_row(const BoxPairsRecord& args, long long row) {
    const long long n = row / args.p;
    const RotatedBox box = read_rotated_box(args.a, n, row % args.p);
    for (long long j = 0; j < args.q; ++j) {
        const double value = rotated_iou(box, read_rotated_box(args.b, n, j));
        if (args.out_is_float64)
            static_cast<double*>(args.out)[row * args.q + j] = value;
        else
            static_cast<float*>(args.out)[row * args.q + j] = static_cast<float>(value);
    }
}

void rotated_iou_task(const void* record, long long row) {
    rotated_iou_row(*static_cast<const BoxPairsRecord*>(record), row);
}

// Up to max_count boxes of the second set, as one array per coordinate, for SIMD.
template <class R>
struct UprightBoxes {
    static constexpr int max_count = 128;
    R left[max_count], top[max_count], right[max_count], bottom[max_count], area[max_count], aspect_angle[max_count];

    void set(int i, const UprightBox<R>& box) {
        left[i] = box.left, top[i] = box.top, right[i] = box.right, bottom[i] = box.bottom;
        area[i] = box.area, aspect_angle[i] = box.aspect_angle;
    }
    UprightBox<R> box(int i) const { return {left[i], top[i], right[i], bottom[i], area[i], aspect_angle[i]}; }
};

template <IouKind kind, class R>
inline void overlap_row(const UprightBox<R>& a, const UprightBoxes<R>& b, int count, R eps, R* out) {
    for (int j = 0; j < count; ++j) out[j] = overlap<kind>(a, b.box(j), eps);
}

// Compares boxes first .. end - 1 of the first set with all boxes of the second.
template <IouKind kind, class R>
inline void upright_iou_rows(const BoxPairsRecord& args, long long n, long long first, long long end) {
    UprightBoxes<R> b;
    for (long long q = 0; q < args.q; q += b.max_count) {
        const int count = args.q - q < b.max_count ? static_cast<int>(args.q - q) : b.max_count;
        for (int j = 0; j < count; ++j) b.set(j, read_upright_box<R>(args.b, n, q + j, kind));
        for (long long p = first; p < end; ++p)
            overlap_row<kind>(read_upright_box<R>(args.a, n, p, kind), b, count, static_cast<R>(args.eps),
                              static_cast<R*>(args.out) + (n * args.p + p) * args.q + q);
    }
}

// `task`: a group of `upright_task_rows` boxes of a sample's first set.
void upright_iou_task(const void* record, long long task) {
    const BoxPairsRecord& args = *static_cast<const BoxPairsRecord*>(record);
    const long long groups = (args.p + native::upright_task_rows - 1) / native::upright_task_rows;
    const long long n = task / groups, first = task % groups * native::upright_task_rows,
                    end = first + native::upright_task_rows < args.p ? first + native::upright_task_rows : args.p;
    dispatch(TypeList<Int<0>, Int<1>, Int<2>, Int<3>>(), static_cast<int>(args.kind), [&](auto kind) {
        constexpr IouKind iou_kind = static_cast<IouKind>(decltype(kind)::value);
        if (args.out_is_float64)
            upright_iou_rows<iou_kind, double>(args, n, first, end);
        else
            upright_iou_rows<iou_kind, float>(args, n, first, end);
    });
}

}  // namespace cuaug
