#pragma once

#include "colour.cuh"

namespace cuaug {

// out = factor * in
template <class R, int K>
struct AdjustBrightness {
    static constexpr int shared = 1, each = 0;
    R factor;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>&) const { return clamped(factor, in, R(0)); }
};

}  // namespace cuaug
