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
    R order[4], brightness, saturation, hue, contrast, about;   // about in the images' own range

    Pixel<R, K> step(int op, const Pixel<R, K>& in, const Where<R>& where) const {
        switch (op) {
            case 0: return AdjustBrightness<R, K>{brightness}(in, where);
            case 1: return AdjustContrast<R, K>{contrast, about}(in, where);
            case 2: return AdjustSaturation<R, K>{saturation}(in, where);
            default: return hue == R(0) ? in : AdjustHue<R, K>{hue}(in, where);
        }
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        Pixel<R, K> out = in;
        for (int i = 0; i < 4; ++i) out = step(static_cast<int>(order[i]), out, where);
        return out;
    }
};

}  // namespace cuaug
