#pragma once

#include "ops/color.cuh"

namespace cuaug {

// A box of the image becomes `value`.
template <class R, int K>
struct Erase {
    static constexpr int sample_params = 4, channel_params = 1;
    static constexpr bool uses_position = true;
    R top, left, height, width;
    R value[K];  // before `prepare`: in the images' range; after it: in 0..1

    static void prepare(R* params, R max_value) {
        for (int k = 0; k < K; ++k) params[4 + k] /= max_value;
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        const R x = static_cast<R>(context.x) - left, y = static_cast<R>(context.y) - top;
        const bool inside = x >= R(0) && x < width && y >= R(0) && y < height;
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = inside ? value[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
