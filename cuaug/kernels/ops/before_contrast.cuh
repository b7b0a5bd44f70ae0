#pragma once

#include "color_jitter.cuh"

namespace cuaug {

// The steps of a ColorJitter that come before its contrast, which the mean is taken after.
template <class R, int K>
struct BeforeContrast {
    static constexpr int shared = 7, each = 0;
    R order[4], brightness, saturation, hue;

    static void prepare(R* field, R) { ColorJitter<R, K>::pack(field); }

    template <class Use>
    void steps(const Use& use) const {
        const ColorJitter<R, K> all = {{}, brightness, saturation, hue, R(1), R(0)};
#pragma unroll 1
        for (int i = 0, left = static_cast<int>(order[0]); i < 4 && (left & 3) != 1; ++i, left >>= 2) all.step(left & 3, use);
    }
};

}  // namespace cuaug
