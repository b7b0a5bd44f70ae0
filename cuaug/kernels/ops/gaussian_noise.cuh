#pragma once

#include "normal.cuh"
#include "stream_pieces.cuh"
#include "ops/color.cuh"

namespace cuaug {

// out = in + mean + sigma * a normally distributed number, which is a function of the sample's stream and of the place
// alone.
template <class R, int K>
struct GaussianNoise {
    static constexpr int shared = 11, each = 0;
    static constexpr bool placed = true;
    R mean, sigma;
    R clip;  // to 0..1, if not 0
    StreamPieces<R> pieces;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        const Random4 random = pieces.stream().draw(
            (static_cast<unsigned int>(where.plane) * where.height + where.y) * where.width + where.x);
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
