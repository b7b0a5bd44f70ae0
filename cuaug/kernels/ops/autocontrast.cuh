#pragma once

#include "ops/color.cuh"

namespace cuaug {

// Maps each channel's darkest level to 0 and its brightest to 1; a channel of one level is only clamped. For integers
// the steps, roundings and the cut to whole levels are torchvision's. A NaN as `low` leaves the channel as it is.
template <class R, int K>
struct Autocontrast {
    static constexpr int sample_params = 0, channel_params = 2;
    R low[K], high[K];  // in the images' range

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        const R unit = R(1) / context.max_value;
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) {
            const R from = high[k] > low[k] ? low[k] : R(0),
                    scale = high[k] > low[k] ? (high[k] - low[k]) * unit : R(1);
            const R stretched = (to_input_range(in.c[k], context) - from) / scale;
            out.c[k] = context.max_value > R(1) ? floor(stretched) * unit : stretched;
        }
        out = fma_saturate(R(1), out, R(0));
        for (int k = 0; k < K; ++k) out.c[k] = low[k] == low[k] ? out.c[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
