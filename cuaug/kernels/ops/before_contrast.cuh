#pragma once

#include "color_jitter.cuh"

namespace cuaug {

// The steps of a ColorJitter that come before its contrast, which the mean is taken after.
template <class R, int K>
struct BeforeContrast {
    static constexpr int shared = 7, each = 0;
    R order[4], brightness, saturation, hue;

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        const ColorJitter<R, K> all = {{}, brightness, saturation, hue, R(1), R(0)};
        Pixel<R, K> out = in;
        for (int i = 0; i < 4 && order[i] != R(1); ++i) out = all.step(static_cast<int>(order[i]), out, where);
        return out;
    }
};

}  // namespace cuaug
