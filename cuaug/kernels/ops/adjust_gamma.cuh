#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = gain * in ^ gamma
template <class R, int K>
struct AdjustGamma {
    static constexpr int sample_params = 2, channel_params = 0;
    static constexpr bool channelwise = true;
    R gamma, gain;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = gain * non_negative_power(fmax(in.c[k], R(0)), gamma);
        return fma_saturate(R(1), out, R(0));
    }
};

}  // namespace cuaug
