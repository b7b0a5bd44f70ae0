#pragma once

#include "colour.cuh"

namespace cuaug {

// out = about + factor * (in - about)
template <class R, int K>
struct AdjustContrast {
    static constexpr int shared = 2, each = 0;
    R factor, about;   // about in the images' own range

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        return clamped(factor * in + grey<R, K>((R(1) - factor) * about / where.white));
    }
};

}  // namespace cuaug
