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
    static constexpr bool within = true;
    R order[4];  // then, as the first bits, the steps that have something to do: three bits each, one more than which,
                 // and 0 after the last
    R brightness, saturation, hue, contrast, about;

    // Of the steps before the contrast, if `before`, and of those from it on, if `after`.
    static void pack(R* field, bool before, bool after) {
        const bool contrast = after && field[7] != R(1);
        const int idle = (field[4] == R(1)) | !contrast << 1 | (field[5] == R(1)) << 2 |
                         (field[6] == R(0)) << 3;  // no array: it would be in memory
        int all = 0, at = 0;
        bool wanted = before;
        for (int i = 0; i < 4; ++i) {
            const int op = static_cast<int>(field[i]);
            if (op == 1) wanted = after;
            // A table may hold any number: beyond 3 there is no step, and `all` would not end with a 0.
            if (!wanted || op < 0 || op > 3 || idle >> op & 1) continue;
            all |= (op + 1) << at;
            at += 3;
        }
        memcpy(field, &all, sizeof(all));
    }

    static void prepare(R* field, R white) {
        pack(field, true, true);
        AdjustContrast<R, K>::prepare(field + 7, white);
    }

    template <class Use>
    void steps(const Use& use) const {
        int left;
        memcpy(&left, order, sizeof(left));
#pragma unroll 1
        for (; left != 0; left >>= 3) {
            const int step = left & 7;
            if (step == 1)
                use(AdjustBrightness<R, K>{brightness});
            else if (step == 2)
                use(AdjustContrast<R, K>{contrast, about});
            else if (step == 3)
                use(AdjustSaturation<R, K>{saturation});
            else
                use(AdjustHue<R, K>{hue});
        }
    }
};

}  // namespace cuaug
