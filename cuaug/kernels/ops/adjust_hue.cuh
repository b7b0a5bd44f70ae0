#pragma once

#include "ops/color.cuh"

namespace cuaug {

// Rotates the hue of HSV (Smith 1978) by `factor` turns. The hue is an angle in sixths of a turn: red 0, yellow 1,
// green 2, blue 4. With v = max, m = min, c = v - m, a channel of the result is v - c * clamp(d - 1, 0, 1), where d is
// the distance around the circle from the channel's own hue (0, 2, 4) to the new hue.
template <class R, int K>
struct AdjustHue {
    static constexpr int sample_params = 1, channel_params = 0;
    static constexpr bool keeps_unit_range = true;
    R factor;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        if constexpr (K < 3) {
            return in;
        } else {
            const R one = R(1), r = in.c[0], g = in.c[1], b = in.c[2], red_offset = g < b ? R(-6) : R(0),
                    high = fmax(g, b), low = fmin(g, b);
            const R v = fmax(r, high), other = fmin(r, high), m = fmin(other, low), c = v - m;
            // The hue is |p + offset|, where p = (other - low) / c:
            //     r >= g >= b: p, with p = (g - b) / c          g >= b, g > r: 2 - p, with p = (r - b) / c
            //     r >= b > g:  6 - p, with p = (b - g) / c      b > g, b > r:  4 + p, with p = (r - g) / c
            // For gray p is 0 * infinity, a NaN. The clamps below turn a NaN into 0, and gray stays gray.
            const R offset = r < high ? R(-2) - red_offset : red_offset;
            const R hue = fabs((other - low) * reciprocal(c) + offset);
            // The new hue minus that of yellow. Adding and subtracting `rounding` rounds to a whole number of turns,
            // which leaves -3..3.
            const R rounding = sizeof(R) == 4 ? R(12582912) : R(6755399441055744),
                    unwrapped = hue + (R(6) * factor - one);
            const R from_yellow = unwrapped - R(6) * ((unwrapped * (one / R(6)) + rounding) - rounding);
            // Red is at -1, green at 1, and blue at both ends. The difference from red or green exceeds the distance
            // around the circle only where both are at least 2, and the clamp gives 1. The distance from blue is
            // 3 - |from_yellow|, and v - c * clamp(2 - x, 0, 1) = m + c * clamp(x - 1, 0, 1). If v <= 1, rounding does
            // not raise this above 1.
            Pixel<R, K> out = in;
            out.c[0] = v - c * add_saturate(fabs(from_yellow + one), -one);
            out.c[1] = v - c * add_saturate(fabs(from_yellow - one), -one);
            out.c[2] = m + c * add_saturate(fabs(from_yellow), -one);
            return out;
        }
    }
};

}  // namespace cuaug
