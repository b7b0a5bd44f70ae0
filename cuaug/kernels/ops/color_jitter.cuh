#pragma once

#include "ops/adjust_brightness.cuh"
#include "ops/adjust_contrast.cuh"
#include "ops/adjust_hue.cuh"
#include "ops/adjust_saturation.cuh"

namespace cuaug {

// Brightness (0), contrast (1), saturation (2) and hue (3), in an order drawn per sample.
template <class R, int K>
struct ColorJitter {
    static constexpr int sample_params = 9, channel_params = 0;
    static constexpr bool keeps_unit_range = true;
    // After `prepare`, the first 32 bits hold the active steps, four bits each, of which bit `step` is set; 0 after the
    // last.
    R order[4];
    R brightness, saturation, hue, contrast, pivot;
    static constexpr int contrast_index = 7;  // of contrast and pivot, the parameters of AdjustContrast

    // Packs the steps before the contrast, if `before`, and the contrast and the steps after it, if `after`.
    static void pack(R* params, bool before, bool after) {
        const bool contrast = after && params[contrast_index] != R(1);
        const int identity_steps = (params[4] == R(1)) | !contrast << 1 | (params[5] == R(1)) << 2 |
                                   (params[6] == R(0)) << 3;  // not an array, which would be in memory
        int packed_steps = 0, shift = 0;
        bool is_included = before;
        for (int i = 0; i < 4; ++i) {
            const int step = static_cast<int>(params[i]);
            if (step == 1) is_included = after;
            // A table may hold any number.
            if (!is_included || step < 0 || step > 3 || identity_steps >> step & 1) continue;
            packed_steps |= 1 << (shift + step);
            shift += 4;
        }
        memcpy(params, &packed_steps, sizeof(packed_steps));
    }

    static void prepare(R* params, R max_value) {
        pack(params, /*before=*/true, /*after=*/true);
        AdjustContrast<R, K>::prepare(params + contrast_index, max_value);
    }

    template <class Visitor>
    void active_steps(const Visitor& visit) const {
        int remaining_steps;
        memcpy(&remaining_steps, order, sizeof(remaining_steps));
#pragma unroll 1
        for (; remaining_steps != 0; remaining_steps >>= 4) {
            if (remaining_steps & 8)
                visit(AdjustHue<R, K>{hue});
            else if (remaining_steps & 4)
                visit(AdjustSaturation<R, K>{saturation});
            else if (remaining_steps & 2)
                visit(AdjustContrast<R, K>{contrast, pivot});
            else
                visit(AdjustBrightness<R, K>{brightness});
        }
    }
};

}  // namespace cuaug
