#pragma once

#include "dtype.cuh"

namespace cuaug {

// The result is factor * in + (1 - factor) * smoothed inside the image, and `in` at its edge, clamped to
// 0..max_value; a factor of 1 leaves every pixel as it is. `sum_3x3` is the sum of the pixel and its neighbours; in
// `smoothed` the pixel counts five times.
template <class R>
inline R blend_sharpness(bool inside, R in, R sum_3x3, R factor, R max_value) {
    const R smoothed = (sum_3x3 + R(4) * in) * (R(1) / R(13));
    const R out = inside ? in + (R(1) - factor) * (smoothed - in) : in;
    return factor == R(1) ? in : fmin(fmax(out, R(0)), max_value);
}

}  // namespace cuaug
