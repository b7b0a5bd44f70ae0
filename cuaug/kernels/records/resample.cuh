#pragma once

#include "records/record.cuh"

namespace cuaug {

// A box of each sample, resized. Mirrored by cuaug/_pass.py.
struct Resample : Filled {
    Table box;  // [N, 4]: top, left, height, width in pixels; data null: `value` serves all samples
    double value[4];
    int turns;      // the table is [N, 6]: also whether the result is turned upside down, and left to right
    int antialias;  // widen the filter by the scale, and leave out what lies outside the box; else repeat the box's
                    // edge
};

// Side k of a sample's box.
inline double box_side(const Resample& record, long long n, int k) {
    return record.box.data != nullptr ? read(record.box, n * record.box.n + k * record.box.x) : record.value[k];
}

inline bool upside_down(const Resample& record, long long n) { return record.turns && entry(record.box, n, 4) != 0.0; }
inline bool left_to_right(const Resample& record, long long n) {
    return record.turns && entry(record.box, n, 5) != 0.0;
}

}  // namespace cuaug
