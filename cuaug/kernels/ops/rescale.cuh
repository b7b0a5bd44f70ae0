#pragma once

#include "ops/color.cuh"

namespace cuaug {

// The identity. As ops see every dtype scaled to 0..1, a chain with this op alone rescales pixels to another dtype.
template <class R, int K>
struct Rescale {
    static constexpr int sample_params = 0, channel_params = 0;
    static constexpr bool channelwise = true;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const { return in; }
};

}  // namespace cuaug
