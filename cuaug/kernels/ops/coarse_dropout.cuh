#pragma once

#include "draws/stream_columns.cuh"
#include "ops/color.cuh"

namespace cuaug {

// Each square of the image becomes `value` with the same probability: dropout for squares of one pixel, otherwise many
// cutouts (DeVries and Taylor 2017). The choice is a function of the sample's stream and of the square, the same for
// all channels and frames.
template <class R, int K>
struct CoarseDropout {
    static constexpr int sample_params = 10, channel_params = 1;
    static constexpr bool uses_position = true;
    R cell_size, probability;
    StreamColumns<R> stream_columns;
    R value[K];  // before `prepare`: in the images' range; after it: in 0..1

    static void prepare(R* params, R max_value) {
        params[0] = fmin(fmax(params[0], R(1)), R(1 << 30));  // a table may hold any number; it is a divisor
        for (int k = 0; k < K; ++k) params[10 + k] /= max_value;
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        const int side = static_cast<int>(cell_size), cells_per_row = (context.width + side - 1) / side;
        const PhiloxBlock random = stream_columns.stream().draw(
            static_cast<unsigned int>(context.y / side * cells_per_row + context.x / side));
        const bool dropped =
            static_cast<R>(random.word[0] >> 8) < probability * R(16777216);  // 24 bits, which float32 holds
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = dropped ? value[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
