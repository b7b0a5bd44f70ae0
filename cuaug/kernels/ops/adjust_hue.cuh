#pragma once

#include "colour.cuh"

namespace cuaug {

// The hue of HSV (Smith 1978) turned by `factor`, in turns. With v = max, c = max - min and h in sixths of a turn, a channel of
// the result is v - c * clamp(2 - |k|, 0, 1), k the distance from the channel's own hue (0, 2, 4) around the circle, less 1.
template <class R, int K>
struct AdjustHue {
    static constexpr int shared = 1, each = 0;
    R factor;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>&) const {
        if constexpr (K < 3) {
            return in;
        } else {
            const R r = in.c[0], g = in.c[1], b = in.c[2], v = fmax(r, fmax(g, b)), c = v - fmin(r, fmin(g, b)), scale = c > R(0) ? reciprocal(c) : R(0);
            const R h = v == r ? (g - b) * scale : v == g ? R(2) + (b - r) * scale : R(4) + (r - g) * scale;
            // Adding this and taking it off again rounds to a whole number: the turns to leave out, so that `red` is in -3..3.
            const R whole = sizeof(R) == 4 ? R(12582912) : R(6755399441055744), turned = h + R(6) * factor;
            const R red = turned - R(6) * ((turned * (R(1) / R(6)) + whole) - whole);
            const R green = R(2) - fabs(fabs(red - R(2)) - R(3)), blue = R(2) - fabs(fabs(red + R(2)) - R(3));
            Pixel<R, K> out = in;
            out.c[0] = v - c * saturated(fabs(red) - R(1));
            out.c[1] = v - c * saturated(green);
            out.c[2] = v - c * saturated(blue);
            return out;
        }
    }
};

}  // namespace cuaug
