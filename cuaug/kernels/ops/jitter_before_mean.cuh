#pragma once

#include "ops/color_jitter.cuh"

namespace cuaug {

// The steps of a ColorJitter before its contrast; the contrast's mean is taken of their result.
template <class R, int K>
struct JitterBeforeMean {
    static constexpr int sample_params = 8, channel_params = 0;
    static constexpr bool keeps_unit_range = true;
    R order[4], brightness, saturation, hue, contrast;

    // A contrast of factor 1 is not applied.
    bool needs_mean() const { return contrast != R(1); }

    static void prepare(R* params, R) { ColorJitter<R, K>::pack(params, /*before=*/true, /*after=*/false); }

    template <class Visitor>
    void active_steps(const Visitor& visit) const {
        // `prepare` packed the steps into order[0]. The contrast is not among them: its pivot is unused.
        ColorJitter<R, K>{{order[0]}, brightness, saturation, hue, contrast, R(0)}.active_steps(visit);
    }
};

}  // namespace cuaug
