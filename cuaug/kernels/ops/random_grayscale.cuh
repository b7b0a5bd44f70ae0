#pragma once

#include "ops/grayscale.cuh"

namespace cuaug {

// Every channel the luma, of the samples whose turn it is.
template <class R, int K>
struct RandomGrayscale {
    static constexpr int shared = 1, each = 0;
    static constexpr bool within = true;
    R grey;

    template <class Use>
    void steps(const Use& use) const {
        if (grey != R(0)) use(Grayscale<R, K>());
    }
};

}  // namespace cuaug
