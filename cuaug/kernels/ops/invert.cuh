#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = 1 - in
template <class R, int K>
struct Invert {
    static constexpr int sample_params = 0, channel_params = 0;
    static constexpr bool channelwise = true;
    static constexpr bool keeps_unit_range = true;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        return splat<R, K>(R(1)) + R(-1) * in;
    }
};

}  // namespace cuaug
