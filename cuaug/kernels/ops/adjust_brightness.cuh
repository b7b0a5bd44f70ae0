#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = factor * in
template <class R, int K>
struct AdjustBrightness {
    static constexpr int sample_params = 1, channel_params = 0;
    static constexpr bool channelwise = true;
    static constexpr bool keeps_unit_range = true;
    R factor;

    // Inactive for samples whose factor is 1.
    template <class Visitor>
    void active_steps(const Visitor& visit) const {
        if (factor != R(1)) visit(*this);
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        return fma_saturate(factor, in, R(0));
    }
};

}  // namespace cuaug
