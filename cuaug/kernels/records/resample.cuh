#pragma once

#include "records/batch.cuh"

namespace cuaug {

// A box of each sample, resized. Mirrored by cuaug/_pass.py.
struct ResampleRecord : BatchWithFill {
    ParameterTable box;  // [N, 4]: top, left, height, width in pixels; data null: `value` serves all samples
    double value[4];
    int has_flips;  // the table is [N, 6]: also whether the result is turned upside down, and left to right
    int antialias;  // widen the filter by the scale, and leave out what lies outside the box; else repeat the box's
                    // edge
};

// Side k of a sample's box.
inline double box_entry(const ResampleRecord& record, long long n, int k) {
    return record.box.data != nullptr ? read(record.box, n * record.box.n + k * record.box.x) : record.value[k];
}

inline bool flips_vertically(const ResampleRecord& record, long long n) {
    return record.has_flips && entry(record.box, n, 4) != 0.0;
}
inline bool flips_horizontally(const ResampleRecord& record, long long n) {
    return record.has_flips && entry(record.box, n, 5) != 0.0;
}

}  // namespace cuaug
