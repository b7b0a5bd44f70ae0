#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out = (in - mean) / std, channel by channel
template <class R, int K>
struct Normalize {
    static constexpr int shared = 0, each = 2;
    R shift[K], scale[K];  // given as mean and std

    static void prepare(R* field, R) {
        for (int k = 0; k < K; ++k) {
            field[K + k] = reciprocal(field[K + k]);
            field[k] *= -field[K + k];
        }
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>&) const {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = in.c[k] * scale[k] + shift[k];
        return out;
    }
};

}  // namespace cuaug
