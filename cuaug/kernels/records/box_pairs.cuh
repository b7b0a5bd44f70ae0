#pragma once

#include "records/typed_array.cuh"

namespace cuaug {

enum class IouKind { iou, giou, diou, ciou };

// A measure of the overlap of all pairs of boxes of two sets, in each of N samples.
struct BoxPairsRecord {
    TypedArray a;  // [N, P, 4]: left, top, right, bottom; or rotated [N, P, 5]: center x and y, width, height, degrees
    TypedArray b;  // [N, Q, 4] or [N, Q, 5]
    void* out;     // [N, P, Q]
    long long samples;
    long long p;
    long long q;
    double eps;          // added to the denominators of the penalties of `diou` and `ciou`
    IouKind kind;        // of upright boxes; rotated ones have `iou` only
    int out_is_float64;  // else `out` is float32
};

}  // namespace cuaug
