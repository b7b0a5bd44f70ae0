#pragma once

#include "dtype.cuh"

namespace cuaug {

// out = factor * in + (1 - factor) * smooth inside, in at the border, all within 0..white; by a factor of 1 every pixel
// stays as it is. `nine` is the sum of the pixel and its neighbours; in `smooth` the pixel counts five times.
template <class R>
inline R sharpened(bool inside, R in, R nine, R factor, R max_value) {
    const R smooth = (nine + R(4) * in) * (R(1) / R(13));
    const R out = inside ? in + (R(1) - factor) * (smooth - in) : in;
    return factor == R(1) ? in : fmin(fmax(out, R(0)), max_value);
}

}  // namespace cuaug
