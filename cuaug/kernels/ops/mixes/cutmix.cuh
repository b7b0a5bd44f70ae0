#pragma once

#include "ops/pixel_context.cuh"
#include "pixel.cuh"

namespace cuaug {

// Takes the pixels of a box from the other image (Yun et al. 2019).
template <class R, int K>
struct Cutmix {
    static constexpr int sample_params = 4, channel_params = 0;
    static constexpr bool uses_position = true;
    R top, left, height, width;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Pixel<R, K>& other, const PixelContext<R>& context) const {
        const R x = static_cast<R>(context.x) - left, y = static_cast<R>(context.y) - top;
        return x >= R(0) && x < width && y >= R(0) && y < height ? other : in;
    }
};

}  // namespace cuaug
