#pragma once

#include "ops/color.cuh"

namespace cuaug {

// As many levels as `bits` allow: of integers the upper bits are kept; of floats out = floor(in * levels) / levels.
template <class R, int K>
struct Posterize {
    static constexpr int shared = 1, each = 0;
    static constexpr bool channelwise = true;
    R levels;  // given as bits: 2^bits

    static void prepare(R* field, R) { field[0] = exp2(field[0]); }

    // Nothing to do for samples that keep all bits.
    template <class Use>
    void steps(const Use& use) const {
        if (levels < R(2147483648)) use(*this);  // 2^31
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        Pixel<R, K> out;
        if (where.max_value > R(1)) {
            const R scale = levels / (where.max_value + R(1)), step = (R(1) / where.max_value) / scale;
            for (int k = 0; k < K; ++k) out.c[k] = floor(level(in.c[k], where) * scale) * step;
        } else {
            for (int k = 0; k < K; ++k) out.c[k] = fmin(fmax(floor(in.c[k] * levels), R(0)), levels - R(1)) / levels;
        }
        return out;
    }
};

}  // namespace cuaug
