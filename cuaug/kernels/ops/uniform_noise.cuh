#pragma once

#include "draws/stream_columns.cuh"
#include "ops/color.cuh"

namespace cuaug {

// out = amplitude * a number in -1 .. 1, which is a function of the sample's stream and of the position; two adjacent
// pixels share the four words of a draw. At most two channels; the input is ignored.
template <class R, int K>
struct UniformNoise {
    static constexpr int sample_params = 8, channel_params = 1;
    static constexpr bool uses_position = true;
    StreamColumns<R> stream_columns;
    R amplitude[K];

    Pixel<R, K> operator()(const Pixel<R, K>&, const PixelContext<R>& context) const {
        const int pairs_per_row = (context.width + 1) >> 1, odd = context.x & 1;
        const PhiloxBlock random =
            stream_columns.stream().draw(static_cast<unsigned int>(context.y) * pairs_per_row + (context.x >> 1));
        const unsigned int word[2] = {odd ? random.word[2] : random.word[0], odd ? random.word[3] : random.word[1]};
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k)
            out.c[k] = amplitude[k] * (static_cast<R>(static_cast<int>(word[k & 1] >> 8)) * R(0x1p-23) - R(1));
        return out;
    }
};

}  // namespace cuaug
