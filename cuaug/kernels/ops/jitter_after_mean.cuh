#pragma once

#include "ops/color_jitter.cuh"

namespace cuaug {

// The steps of a ColorJitter from its contrast on, which needs the mean of what JitterBeforeMean returns.
template <class R, int K>
struct JitterAfterMean : ColorJitter<R, K> {
    static void prepare(R* params, R max_value) {
        ColorJitter<R, K>::pack(params, /*before=*/false, /*after=*/true);
        AdjustContrast<R, K>::prepare(params + ColorJitter<R, K>::contrast_index, max_value);
    }
};

}  // namespace cuaug
