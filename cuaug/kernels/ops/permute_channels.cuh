#pragma once

#include "ops/color.cuh"

namespace cuaug {

// out[k] = in[permutation[k]]
template <class R, int K>
struct PermuteChannels {
    static constexpr int sample_params = 0, channel_params = 1;
    static constexpr bool keeps_unit_range = true;
    R permutation[K];

    // Inactive for samples whose channels stay in place.
    template <class Visitor>
    void active_steps(const Visitor& visit) const {
        bool in_place = true;
        for (int k = 0; k < K; ++k) in_place = in_place && permutation[k] == R(k);
        if (!in_place) visit(*this);
    }

    // Selects: an index that is not known at compile time would place the pixel in local memory.
    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>&) const {
        Pixel<R, K> out = splat<R, K>(in.c[0]);
        for (int k = 0; k < K; ++k)
            for (int j = 1; j < K; ++j) out.c[k] = permutation[k] == R(j) ? in.c[j] : out.c[k];
        return out;
    }
};

}  // namespace cuaug
