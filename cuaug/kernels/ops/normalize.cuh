#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = (in - mean) / std, channel by channel
template <class R, int K>
struct Normalize {
    static constexpr int sample_params = 0, channel_params = 2;
    R shift[K], scale[K];  // given as mean and std

    static void prepare(R* params, R) {
        for (int k = 0; k < K; ++k) {
            params[K + k] = reciprocal(params[K + k]);
            params[k] *= -params[K + k];
        }
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = in.c[k] * scale[k] + shift[k];
        return out;
    }
};

}  // namespace cuaug
