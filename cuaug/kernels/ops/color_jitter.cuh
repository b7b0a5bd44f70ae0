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

    template <class Use>
    void step(int op, const Use& use) const {
        if (op == 0) use(AdjustBrightness<R, K>{brightness});
        else if (op == 1) use(AdjustContrast<R, K>{contrast, about});
        else if (op == 2) use(AdjustSaturation<R, K>{saturation});
        else if (hue != R(0)) use(AdjustHue<R, K>{hue});
    }

    template <class Use>
    void steps(const Use& use) const {
#pragma unroll 1
        for (int i = 0, left = static_cast<int>(order[0]); i < 4; ++i, left >>= 2) step(left & 3, use);
    }
};

}  // namespace cuaug
