#pragma once

#include "colour.cuh"

namespace cuaug {

// out = (in - mean) / std, channel by channel
template <class R, int K>
struct Normalize {
    static constexpr int shared = 0, each = 2;
    R mean[K], std[K];

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>&) const {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = (in.c[k] - mean[k]) / std[k];
        return out;
    }
};

}  // namespace cuaug
