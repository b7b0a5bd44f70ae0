#pragma once

#include "ops/grayscale.cuh"

namespace cuaug {

// Every channel becomes the luma, in samples for which `applies` is not 0.
template <class R, int K>
struct RandomGrayscale {
    static constexpr int sample_params = 1, channel_params = 0;
    static constexpr bool keeps_unit_range = true;
    R applies;

    template <class Visitor>
    void active_steps(const Visitor& visit) const {
        if (applies != R(0)) visit(Grayscale<R, K>());
    }
};

}  // namespace cuaug
