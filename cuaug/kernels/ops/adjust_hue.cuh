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
            const R r = in.c[0], g = in.c[1], b = in.c[2], v = fmax(r, fmax(g, b)), c = v - fmin(r, fmin(g, b)), scale = c > R(0) ? R(1) / c : R(0);
            const R h = v == r ? (g - b) * scale : v == g ? R(2) + (b - r) * scale : R(4) + (r - g) * scale;
            const R turned = h + R(6) * factor;
            auto channel = [&](R own) {
                const R away = turned - own, around = fabs(away - R(6) * floor((away + R(3)) / R(6)));  // 0..3
                return v - c * fmin(fmax(around - R(1), R(0)), R(1));
            };
            Pixel<R, K> out = in;
            out.c[0] = channel(R(0));
            out.c[1] = channel(R(2));
            out.c[2] = channel(R(4));
            return out;
        }
    }
};

}  // namespace cuaug
