#pragma once

#include "ops/color.cuh"

namespace cuaug {

// Every channel becomes the luma.
template <class R, int K>
struct Grayscale {
    static constexpr int sample_params = 0, channel_params = 0;
    static constexpr bool keeps_unit_range = true;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        if constexpr (K < 3)
            return in;
        else
            return splat<R, K>(luma(in));
    }
};

}  // namespace cuaug
