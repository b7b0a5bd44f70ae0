#pragma once

#include "ops/color.cuh"

namespace cuaug {

// The number as it was in the images' own range, now in the result's: a conversion that does not scale.
template <class R, int K>
struct Unscaled {
    static constexpr int shared = 0, each = 0;
    static constexpr bool channelwise = true;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = level(in.c[k], where) / where.out_max_value;
        return out;
    }
};

}  // namespace cuaug
