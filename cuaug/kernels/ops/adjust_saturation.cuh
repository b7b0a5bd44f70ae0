#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = grey + factor * (in - grey)
template <class R, int K>
struct AdjustSaturation {
    static constexpr int shared = 1, each = 0;
    static constexpr bool within = true;
    R factor;

    // Nothing to do for samples whose factor is 1.
    template <class Use>
    void steps(const Use& use) const {
        if (factor != R(1)) use(*this);
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>&) const {
        if constexpr (K < 3)
            return in;
        else
            return fma_saturate(factor, in, (R(1) - factor) * luma(in));
    }
};

}  // namespace cuaug
