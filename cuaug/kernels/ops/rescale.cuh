#pragma once

#include "ops/color.cuh"

namespace cuaug {

// The identity: 0..1 is the same in every dtype, so that storing another dtype rescales.
template <class R, int K>
struct Rescale {
    static constexpr int sample_params = 0, channel_params = 0;
    static constexpr bool channelwise = true;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const { return in; }
};

}  // namespace cuaug
