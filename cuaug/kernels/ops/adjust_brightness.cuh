#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = factor * in
template <class R, int K>
struct AdjustBrightness {
    static constexpr int shared = 1, each = 0;
    static constexpr bool channelwise = true;
    static constexpr bool within = true;
    R factor;

    // Nothing to do for samples whose factor is 1.
    template <class Use>
    void steps(const Use& use) const {
        if (factor != R(1)) use(*this);
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>&) const { return fma_saturate(factor, in, R(0)); }
};

}  // namespace cuaug
