#pragma once

#include "adjust_brightness.cuh"
#include "adjust_contrast.cuh"
#include "adjust_hue.cuh"
#include "adjust_saturation.cuh"

namespace cuaug {

// Brightness (0), contrast (1), saturation (2) and hue (3), in an order of the sample's own.
template <class R, int K>
struct ColorJitter {
    static constexpr int shared = 9, each = 0;
    R order[4];   // then, in the first, all of it: two bits a step, for an index that is not known would keep it out of registers
    R brightness, saturation, hue, contrast, about;

    static void pack(R* order) { order[0] += R(4) * order[1] + R(16) * order[2] + R(64) * order[3]; }

    static void prepare(R* field, R white) {
        pack(field);
        AdjustContrast<R, K>::prepare(field + 7, white);
    }

    template <int N>
    void step(int op, Pixel<R, K> (&pixels)[N], const Where<R> (&where)[N]) const {
        auto each = [&](const auto& adjust) {
            for (int i = 0; i < N; ++i) pixels[i] = adjust(pixels[i], where[i]);
        };
        if (op == 0) each(AdjustBrightness<R, K>{brightness});
        else if (op == 1) each(AdjustContrast<R, K>{contrast, about});
        else if (op == 2) each(AdjustSaturation<R, K>{saturation});
        else if (hue != R(0)) each(AdjustHue<R, K>{hue});
    }

    template <int N>
    void apply(Pixel<R, K> (&pixels)[N], const Where<R> (&where)[N]) const {
#pragma unroll 1
        for (int i = 0, steps = static_cast<int>(order[0]); i < 4; ++i, steps >>= 2) step(steps & 3, pixels, where);
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& at) const {
        Pixel<R, K> pixel[1] = {in};
        const Where<R> where[1] = {at};
        apply(pixel, where);
        return pixel[0];
    }
};

}  // namespace cuaug
