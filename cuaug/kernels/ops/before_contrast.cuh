#pragma once

#include "color_jitter.cuh"

namespace cuaug {

// The steps of a ColorJitter that come before its contrast, which the mean is taken after.
template <class R, int K>
struct BeforeContrast {
    static constexpr int shared = 7, each = 0;
    R order[4], brightness, saturation, hue;

    static void prepare(R* field, R) { ColorJitter<R, K>::pack(field); }

    template <int N>
    void apply(Pixel<R, K> (&pixels)[N], const Where<R> (&where)[N]) const {
        const ColorJitter<R, K> all = {{}, brightness, saturation, hue, R(1), R(0)};
#pragma unroll 1
        for (int i = 0, steps = static_cast<int>(order[0]); i < 4 && (steps & 3) != 1; ++i, steps >>= 2) all.step(steps & 3, pixels, where);
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& at) const {
        Pixel<R, K> pixel[1] = {in};
        const Where<R> where[1] = {at};
        apply(pixel, where);
        return pixel[0];
    }
};

}  // namespace cuaug
