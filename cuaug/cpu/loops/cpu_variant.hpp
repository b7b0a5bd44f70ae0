#pragma once

#include "ops/adjust_hue.cuh"

namespace cuaug {

// AdjustHue without its division, which takes as long as everything else in SIMD code. The hue h is counted in units of
// the chroma c, as h c from 0 to 6 c. A channel is then v - clamp(d c - c, 0, c), where d is the distance of h from the
// channel's own hue; this is clamp(v + c - d c, v - c, v).
template <class R, int K>
struct HueInChroma {
    R red_hue;  // in 1..7, so that one comparison brings every hue, -1..5 plus this, into one turn

    explicit HueInChroma(const AdjustHue<R, K>& op)
        : red_hue(R(6) * op.factor - R(6) * floor(op.factor - R(1) / R(6))) {}

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        if constexpr (K < 3) {
            return in;
        } else {
            const R r = in.c[0], g = in.c[1], b = in.c[2], v = fmax(r, fmax(g, b)), lowest = fmin(r, fmin(g, b)),
                    c = v - lowest;
            const R from = v == r   ? g - b
                           : v == g ? b - r
                                    : r - g,
                    base = v == r   ? red_hue
                           : v == g ? red_hue + R(2)
                                    : red_hue + R(4);
            const R turned = base * c + from, hue = turned < R(6) * c ? turned : turned - R(6) * c;
            const R low = v - R(2) * c, high = v + c;
            auto within = [&](R level) { return fmin(fmax(level, lowest), v); };
            Pixel<R, K> out = in;
            out.c[0] = within(low + fabs(hue - R(3) * c));
            out.c[1] = within(high - fabs(hue - R(2) * c));
            out.c[2] = within(high - fabs(hue - R(4) * c));
            return out;
        }
    }
};

// The form of an op that runs on the CPU.
template <class Op>
inline const Op& cpu_variant(const Op& op) {
    return op;
}
template <class R, int K>
inline HueInChroma<R, K> cpu_variant(const AdjustHue<R, K>& op) {
    return HueInChroma<R, K>(op);
}

}  // namespace cuaug
