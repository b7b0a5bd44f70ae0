#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = 1 - in where in >= threshold
template <class R, int K>
struct Solarize {
    static constexpr int shared = 1, each = 0;
    static constexpr bool channelwise = true;
    R threshold;  // in the images' own range

    // Nothing to do for samples whose threshold is beyond all levels.
    template <class Use>
    void steps(const Use& use) const {
        if (threshold < R(1e20)) use(*this);
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = level(in.c[k], where) >= threshold ? R(1) - in.c[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
