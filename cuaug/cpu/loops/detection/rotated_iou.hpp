#pragma once

#include "records/rotated_iou.cuh"

namespace cuaug {

// Compares one box of the first set with all boxes of the second.
inline void rotated_iou_row(const RotatedIouRecord& args, long long row) {
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
    rotated_iou_row(*static_cast<const RotatedIouRecord*>(record), row);
}

}  // namespace cuaug
