#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = pivot + factor * (in - pivot)
template <class R, int K>
struct AdjustContrast {
    static constexpr int sample_params = 2, channel_params = 0;
    static constexpr bool channelwise = true;
    static constexpr bool keeps_unit_range = true;
    R factor, pivot;  // pivot: in the images' range; after `prepare`: (1 - factor) * pivot, scaled to 0..1

    static void prepare(R* params, R max_value) { params[1] = (R(1) - params[0]) * params[1] * (R(1) / max_value); }

    // Inactive for samples whose factor is 1.
    template <class Visitor>
    void active_steps(const Visitor& visit) const {
        if (factor != R(1)) visit(*this);
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        return fma_saturate(factor, in, pivot);
    }
};

}  // namespace cuaug
