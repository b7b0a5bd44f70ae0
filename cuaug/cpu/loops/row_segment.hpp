#pragma once

#include "ops/chain.cuh"
#include "cpu_variant.hpp"
#include "dispatch.hpp"

// A piece of a row, channel by channel, and an op that goes over it.

namespace cuaug {

constexpr int segment_width = 256;

// Flat: with one call left in it, which the compiler leaves where an op is long, the loop is no SIMD code (noise: 42 ns
// a pixel, not 16).
template <class R, int K, class Op>
__attribute__((noinline, flatten)) void apply_step(const Op& op, const PixelContext<R>& context, int count,
                                                   R (*__restrict__ channel)[segment_width]) {
    for (int i = 0; i < count; ++i) {
        Pixel<R, K> in;
        for (int k = 0; k < K; ++k) in.c[k] = channel[k][i];
        PixelContext<R> here = context;
        here.x += i;
        const Pixel<R, K> out = op(in, here);
        for (int k = 0; k < K; ++k) channel[k][i] = out.c[k];
    }
}

// Whether it had something to do.
template <class R, int K, class Op>
inline bool apply(const Op& op, const PixelContext<R>& context, int count, R (*channel)[segment_width]) {
    bool changed = false;
    for_each_step(
        op,
        [&](const auto& step) {
            apply_step<R, K>(cpu_variant(step), context, count, channel);
            changed = true;
        },
        0);
    return changed;
}

}  // namespace cuaug
