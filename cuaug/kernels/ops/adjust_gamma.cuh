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
        const bool is_fast = gamma > R(0) && gamma <= R(8);  // else fast_power is not accurate
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) {
            const R base = fmax(in.c[k], R(0));
            out.c[k] = gain * (is_fast ? fast_power(base, gamma) : pow(base, gamma));
        }
        return fma_saturate(R(1), out, R(0));
    }
};

}  // namespace cuaug
