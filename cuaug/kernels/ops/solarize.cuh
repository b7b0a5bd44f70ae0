#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = 1 - in where in >= threshold
template <class R, int K>
struct Solarize {
    static constexpr int sample_params = 1, channel_params = 0;
    static constexpr bool channelwise = true;
    static constexpr bool keeps_unit_range = true;
    R threshold;  // in the images' range

    // Inactive for samples whose threshold is beyond all levels.
    template <class Visitor>
    void active_steps(const Visitor& visit) const {
        if (threshold < R(1e20)) visit(*this);
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = to_input_range(in.c[k], context) >= threshold ? R(1) - in.c[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
