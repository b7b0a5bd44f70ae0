#pragma once

#include "../normal.cuh"
#include "../philox.cuh"
#include "colour.cuh"

namespace cuaug {

// out = in + mean + sigma * a normally distributed number, which is a function of the sample's stream and of the place alone.
template <class R, int K>
struct GaussianNoise {
    static constexpr int shared = 11, each = 0;
    R mean, sigma;
    R clip;                            // to 0..1, if not 0
    R seed[3], step[2], id[2], position;   // of the stream: pieces of 24 bits, which float32 holds, the lowest first

    static unsigned long long whole(const R* piece, int count) {
        unsigned long long out = 0;
        for (int i = 0; i < count; ++i) out |= static_cast<unsigned long long>(static_cast<unsigned int>(piece[i])) << 24 * i;
        return out;
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        const Stream stream = {whole(seed, 3), whole(step, 2), whole(id, 2), static_cast<unsigned int>(position)};
        const Random4 random = stream.draw((static_cast<unsigned int>(where.plane) * where.height + where.y) * where.width + where.x);
        const Normal2 a = box_muller(random.word[0], random.word[1]), b = K > 2 ? box_muller(random.word[2], random.word[3]) : Normal2{};
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
