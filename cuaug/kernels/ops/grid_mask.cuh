#pragma once

#include "ops/color.cuh"

namespace cuaug {

// Squares at the nodes of a grid become `value` (Chen et al. 2020).
template <class R, int K>
struct GridMask {
    static constexpr int sample_params = 4, channel_params = 1;
    static constexpr bool uses_position = true;
    R size, top, left, side;  // of the grid's cells, where its first one begins, and the side of the square in each
    R value[K];               // in the images' own range; then a share of white

    static void prepare(R* params, R max_value) {
        for (int k = 0; k < K; ++k) params[4 + k] /= max_value;
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        const int cell = static_cast<int>(size), y = (context.y + static_cast<int>(top)) % cell,
                  x = (context.x + static_cast<int>(left)) % cell;
        const bool hidden = x < static_cast<int>(side) && y < static_cast<int>(side);
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = hidden ? value[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
