#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = about + factor * (in - about)
template <class R, int K>
struct AdjustContrast {
    static constexpr int shared = 2, each = 0;
    static constexpr bool channelwise = true;
    static constexpr bool within = true;
    R factor, about;  // about in the images' own range; then the part of it that is added

    static void prepare(R* field, R max_value) { field[1] = (R(1) - field[0]) * field[1] * (R(1) / max_value); }

    // Nothing to do for samples whose factor is 1.
    template <class Use>
    void steps(const Use& use) const {
        if (factor != R(1)) use(*this);
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>&) const { return fma_saturate(factor, in, about); }
};

}  // namespace cuaug
