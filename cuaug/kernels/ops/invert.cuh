#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = 1 - in
template <class R, int K>
struct Invert {
    static constexpr int shared = 0, each = 0;
    static constexpr bool channelwise = true;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>&) const { return grey<R, K>(R(1)) + R(-1) * in; }
};

}  // namespace cuaug
