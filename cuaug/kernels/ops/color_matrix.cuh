#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = matrix * (r, g, b, 1)
template <class R, int K>
struct ColorMatrix {
    static constexpr int sample_params = 12, channel_params = 0;
    R matrix[3][4];

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        if constexpr (K < 3) {
            return in;
        } else {
            Pixel<R, K> out = in;
            for (int k = 0; k < 3; ++k)
                out.c[k] = matrix[k][0] * in.c[0] + matrix[k][1] * in.c[1] + matrix[k][2] * in.c[2] + matrix[k][3];
            return fma_saturate(R(1), out, R(0));
        }
    }
};

}  // namespace cuaug
