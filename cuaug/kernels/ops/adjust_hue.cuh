#pragma once

#include "ops/color.cuh"

namespace cuaug {

// Rotates the hue of HSV (Smith 1978) by `factor` turns. With v = max, c = max - min and h in sixths of a turn, a
// channel of the result is v - c * clamp(d - 1, 0, 1), where d is the distance from the channel's own hue (0, 2, 4)
// around the circle.
template <class R, int K>
struct AdjustHue {
    static constexpr int sample_params = 1, channel_params = 0;
    static constexpr bool keeps_unit_range = true;
    R factor;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        if constexpr (K < 3) {
            return in;
        } else {
            const R one = R(1), r = in.c[0], g = in.c[1], b = in.c[2], v = fmax(r, fmax(g, b)),
                    c = v - fmin(r, fmin(g, b));
            // For gray this is infinite and the hue a NaN; the clamps below turn the NaN into 0, and gray stays gray.
            const R scale = reciprocal(c);
            const R h = v == r ? (g - b) * scale : v == g ? R(2) + (b - r) * scale : R(4) + (r - g) * scale;
            // Adding and subtracting `rounding` rounds to a whole number of turns, which leaves the hue in -3..3.
            const R rounding = sizeof(R) == 4 ? R(12582912) : R(6755399441055744), unwrapped_hue = h + R(6) * factor;
            const R hue = unwrapped_hue - R(6) * ((unwrapped_hue * (one / R(6)) + rounding) - rounding);
            Pixel<R, K> out = in;
            out.c[0] = v - c * add_saturate(fabs(hue), -one);
            out.c[1] = v - c * fma_saturate(-one, hue, one) * fma_saturate(one, hue, R(3));
            out.c[2] = v - c * fma_saturate(one, hue, one) * fma_saturate(-one, hue, R(3));
            return out;
        }
    }
};

}  // namespace cuaug
