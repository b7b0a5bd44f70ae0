#pragma once

#include "records/rotated_iou.cuh"

namespace cuaug {

// One box of the first set with all of the second.
inline void rotated_iou_row(const RotatedIou& args, long long row) {
    const long long n = row / args.p;
    const RotatedBox own = read_rotated(args.a, n, row % args.p);
    for (long long j = 0; j < args.q; ++j) {
        const double found = rotated_iou(own, read_rotated(args.b, n, j));
        if (args.float64)
            static_cast<double*>(args.out)[row * args.q + j] = found;
        else
            static_cast<float*>(args.out)[row * args.q + j] = static_cast<float>(found);
    }
}

void rotated_iou_task(const void* record, long long row) {
    rotated_iou_row(*static_cast<const RotatedIou*>(record), row);
}

}  // namespace cuaug
