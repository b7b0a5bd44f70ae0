#pragma once

#include "draws/stream_columns.cuh"
#include "ops/color.cuh"

namespace cuaug {

// Squares of the image, each with the same probability, become `value`: of one pixel, dropout; of more, DeVries &
// Taylor's cutout, many times. Whether a square does is a function of the sample's stream and of the square alone,
// whatever the channel or the frame.
template <class R, int K>
struct CoarseDropout {
    static constexpr int sample_params = 10, channel_params = 1;
    static constexpr bool uses_position = true;
    R size, share;
    StreamColumns<R> stream_columns;
    R value[K];  // in the images' own range; then a share of white

    static void prepare(R* params, R max_value) {
        for (int k = 0; k < K; ++k) params[10 + k] /= max_value;
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        const int side = static_cast<int>(size), across = (context.width + side - 1) / side;
        const PhiloxOutput random =
            stream_columns.stream().draw(static_cast<unsigned int>(context.y / side * across + context.x / side));
        const bool dropped = static_cast<R>(random.word[0] >> 8) < share * R(16777216);  // 24 bits, which float32 holds
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = dropped ? value[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
