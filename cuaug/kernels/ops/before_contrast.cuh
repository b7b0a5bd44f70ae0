#pragma once

#include "ops/color_jitter.cuh"

namespace cuaug {

// The steps of a ColorJitter that come before its contrast, which the mean is taken after.
template <class R, int K>
struct BeforeContrast {
    static constexpr int shared = 7, each = 0;
    static constexpr bool within = true;
    R order[4], brightness, saturation, hue;

    static void prepare(R* field, R) { ColorJitter<R, K>::pack(field, true, false); }

    template <class Use>
    void steps(const Use& use) const {
        ColorJitter<R, K>{{order[0]}, brightness, saturation, hue, R(1), R(0)}.steps(use);
    }
};

}  // namespace cuaug
