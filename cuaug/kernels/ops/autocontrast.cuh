#pragma once

#include "ops/color.cuh"

namespace cuaug {

// Maps each channel's smallest value to 0 and its largest to 1; a channel of one value is only clamped. For integers
// the steps, roundings and the cut to whole levels are torchvision's. A NaN as `low` leaves the channel as it is.
template <class R, int K>
struct Autocontrast {
    static constexpr int sample_params = 0, channel_params = 2;
    // low: the smallest value, in the images' range. span: before `prepare` the largest value, in the images' range;
    // after it the largest minus the smallest value, in 0..1.
    R low[K], span[K];

    static void prepare(R* params, R max_value) {
        for (int k = 0; k < K; ++k) {
            R &low = params[k], &high = params[K + k];
            const bool has_span = high > low;
            high = has_span ? (high - low) * (R(1) / max_value) : R(1);
            if (low == low && !has_span) low = R(0);
        }
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) {
            const R above = to_input_range(in.c[k], context) - low[k];
            out.c[k] = context.max_value > R(1) ? floor(divide_levels(above, span[k])) * (R(1) / context.max_value)
                                                : above / span[k];
        }
        out = fma_saturate(R(1), out, R(0));
        for (int k = 0; k < K; ++k) out.c[k] = low[k] == low[k] ? out.c[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
