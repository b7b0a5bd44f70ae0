#pragma once

#include "ops/color.cuh"

namespace cuaug {

// Undoes the scaling from one dtype's range to another's that a pass does when it stores another dtype: 200 in a uint8
// image becomes 200 in every dtype.
template <class R, int K>
struct ConvertRange {
    static constexpr int sample_params = 0, channel_params = 0;
    static constexpr bool channelwise = true;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = to_input_range(in.c[k], context) / context.out_max_value;
        return out;
    }
};

}  // namespace cuaug
