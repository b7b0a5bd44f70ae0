#pragma once

#include "ops/adjust_hue.cuh"

namespace cuaug {

// AdjustHue without a division, which in SIMD code would take as long as everything else. v is the largest channel, c
// the chroma, and h the hue in sixths of a turn, as in ops/adjust_hue.cuh. In place of h this uses the product h * c,
// from 0 to 6 * c. A channel is then v - clamp(d * c - c, 0, c), where d is the distance of h from the channel's own
// hue; this is clamp(v + c - d * c, v - c, v).
template <class R, int K>
struct AdjustHueWithoutDivision {
    R red_hue;  // the new hue of red, in 1..7: added to an input hue of -1..5 it gives 0..12, and one comparison with 6
                // reduces that to one turn

    explicit AdjustHueWithoutDivision(const AdjustHue<R, K>& op)
        : red_hue(R(6) * op.factor - R(6) * floor(op.factor - R(1) / R(6))) {}

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        if constexpr (K < 3) {
            return in;
        } else {
            const R r = in.c[0], g = in.c[1], b = in.c[2], v = fmax(r, fmax(g, b)), lowest = fmin(r, fmin(g, b)),
                    c = v - lowest;
            const R difference = v == r   ? g - b
                                 : v == g ? b - r
                                          : r - g,
                    sector_hue = v == r   ? red_hue
                                 : v == g ? red_hue + R(2)
                                          : red_hue + R(4);
            const R unwrapped_hue_times_c = sector_hue * c + difference,
                    hue_times_c =
                        unwrapped_hue_times_c < R(6) * c ? unwrapped_hue_times_c : unwrapped_hue_times_c - R(6) * c;
            // A channel before clamping, at the distances 3 and 0 from its own hue. The distance from red's hue, which
            // is both 0 and 6, is 3 minus the distance from 3.
            const R at_distance_3 = v - R(2) * c, at_distance_0 = v + c;
            auto clamp_level = [&](R level) { return fmin(fmax(level, lowest), v); };
            Pixel<R, K> out = in;
            out.c[0] = clamp_level(at_distance_3 + fabs(hue_times_c - R(3) * c));
            out.c[1] = clamp_level(at_distance_0 - fabs(hue_times_c - R(2) * c));
            out.c[2] = clamp_level(at_distance_0 - fabs(hue_times_c - R(4) * c));
            return out;
        }
    }
};

// The variant of an op that the CPU runs.
template <class Op>
inline const Op& cpu_variant(const Op& op) {
    return op;
}
template <class R, int K>
inline AdjustHueWithoutDivision<R, K> cpu_variant(const AdjustHue<R, K>& op) {
    return AdjustHueWithoutDivision<R, K>(op);
}

}  // namespace cuaug
