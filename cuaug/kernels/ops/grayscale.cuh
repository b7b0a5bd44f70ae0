#pragma once

#include "ops/color.cuh"

namespace cuaug {

// Every channel the luma.
template <class R, int K>
struct Grayscale {
    static constexpr int shared = 0, each = 0;
    static constexpr bool within = true;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>&) const {
        if constexpr (K < 3)
            return in;
        else
            return grey<R, K>(luma(in));
    }
};

}  // namespace cuaug
