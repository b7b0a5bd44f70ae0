#pragma once

#include "draws/normal.cuh"
#include "draws/stream_columns.cuh"
#include "ops/color.cuh"

namespace cuaug {

// out = in + mean + sigma * a normally distributed number, which is a function of the sample's Philox stream, of the
// pixel's position and of the channel.
template <class R, int K>
struct GaussianNoise {
    static constexpr int sample_params = 11, channel_params = 0;
    static constexpr bool uses_position = true;
    R mean, sigma;
    R clip;  // to 0..1, if not 0
    StreamColumns<R> stream_columns;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        const PhiloxBlock random = stream_columns.stream().draw(
            (static_cast<unsigned int>(context.channel_group) * context.height + context.y) * context.width +
            context.x);
        const Normal2 a = box_muller(random.word[0], random.word[1]),
                      b = K > 2 ? box_muller(random.word[2], random.word[3]) : Normal2{};
        const float normal[4] = {a.first, a.second, b.first, b.second};
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) {
            const R noisy = in.c[k] + (mean + sigma * static_cast<R>(normal[k]));
            out.c[k] = clip != R(0) ? fmin(fmax(noisy, R(0)), R(1)) : noisy;
        }
        return out;
    }
};

}  // namespace cuaug
