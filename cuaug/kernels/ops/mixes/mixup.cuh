#pragma once

#include "ops/pixel_context.cuh"
#include "pixel.cuh"

namespace cuaug {

// out = lam * in + (1 - lam) * other (Zhang et al. 2018)
template <class R, int K>
struct Mixup {
    static constexpr int sample_params = 1, channel_params = 0;
    R lam;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Pixel<R, K>& other, const PixelContext<R>&) const {
        return lam * in + (R(1) - lam) * other;
    }
};

}  // namespace cuaug
