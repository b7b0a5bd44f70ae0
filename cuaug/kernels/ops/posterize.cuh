#pragma once

#include "ops/color.cuh"

namespace cuaug {

// Keeps as many levels as `bits` allow: the upper bits of unsigned integers, and the bits after the sign of int16;
// floats become floor(in * levels) / levels, clamped between 0 and the highest of these levels.
template <class R, int K>
struct Posterize {
    static constexpr int sample_params = 1, channel_params = 0;
    static constexpr bool channelwise = true;
    R levels;  // 2^bits; given as bits

    static void prepare(R* params, R) { params[0] = exp2(params[0]); }

    // Inactive for samples for which a transform draws KEEP_ALL_BITS (cuaug/transforms/color.py).
    template <class Visitor>
    void active_steps(const Visitor& visit) const {
        if (levels < R(2147483648)) visit(*this);  // 2^31
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        Pixel<R, K> out;
        if (context.max_value > R(1)) {
            // The scale is a power of two. If it is at most 1, one floor gives the level of the input range and
            // posterizes it: floor(floor(x) * scale) = floor(x * scale).
            const R scale = levels / (context.max_value + R(1)), step = (R(1) / context.max_value) / scale;
            for (int k = 0; k < K; ++k) {
                R value = in.c[k] * context.max_value + R(0.5);
                if (scale > R(1)) value = floor(value);
                out.c[k] = floor(value * scale) * step;
            }
        } else {
            const R step = R(1) / levels;  // exact, as `levels` is a power of two
            for (int k = 0; k < K; ++k) out.c[k] = fmin(fmax(floor(in.c[k] * levels), R(0)), levels - R(1)) * step;
        }
        return out;
    }
};

}  // namespace cuaug
