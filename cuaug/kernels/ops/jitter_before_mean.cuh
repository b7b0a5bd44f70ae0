#pragma once

#include "ops/color_jitter.cuh"

namespace cuaug {

// The steps of a ColorJitter before its contrast; the contrast's mean is taken of their result.
template <class R, int K>
struct JitterBeforeMean {
    static constexpr int sample_params = 7, channel_params = 0;
    static constexpr bool keeps_unit_range = true;
    R order[4], brightness, saturation, hue;

    static void prepare(R* params, R) { ColorJitter<R, K>::pack(params, true, false); }

    template <class Visitor>
    void active_steps(const Visitor& visit) const {
        ColorJitter<R, K>{{order[0]}, brightness, saturation, hue, R(1), R(0)}.active_steps(visit);
    }
};

}  // namespace cuaug
