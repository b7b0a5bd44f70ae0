#pragma once

#include "records/batch.cuh"

namespace cuaug {

// Resizes a box of each sample.
struct ResampleRecord : BatchWithFill {
    ParameterTable box;  // [N, 4]: top, left, height, width in pixels; data null: `value` serves all samples
    double value[4];
    int has_flips;  // the table is [N, 6]: also whether the result is flipped vertically and horizontally
    int antialias;  // widen the filter by the scale and drop taps outside the box; otherwise repeat the box's edge
};

// Entry k of a sample's box.
inline double box_entry(const ResampleRecord& record, long long n, int k) {
    return record.box.data != nullptr ? read(record.box, n * record.box.n_stride + k * record.box.x_stride)
                                      : record.value[k];
}

inline bool flips_vertically(const ResampleRecord& record, long long n) {
    return record.has_flips && entry(record.box, n, 4) != 0.0;
}
inline bool flips_horizontally(const ResampleRecord& record, long long n) {
    return record.has_flips && entry(record.box, n, 5) != 0.0;
}

}  // namespace cuaug
