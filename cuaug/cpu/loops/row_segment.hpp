#pragma once

#include "ops/chain.cuh"
#include "cpu_variant.hpp"
#include "dispatch.hpp"

// Applies an op to a segment: up to segment_width adjacent pixels of a row, held as one array per channel.

namespace cuaug {

constexpr int segment_width = 256;

// Applies one step of an op (for_each_step, ops/chain.cuh). `flatten` inlines every call. Without it the compiler
// leaves a call in a long op, and the loop is not vectorized (noise takes 42 ns a pixel instead of 16).
template <class R, int K, class Op>
__attribute__((noinline, flatten)) void apply_step(const Op& op, const PixelContext<R>& context, int count,
                                                   R (*__restrict__ channel)[segment_width]) {
    for (int i = 0; i < count; ++i) {
        Pixel<R, K> in;
        for (int k = 0; k < K; ++k) in.c[k] = channel[k][i];
        PixelContext<R> pixel_context = context;
        pixel_context.x += i;
        const Pixel<R, K> out = op(in, pixel_context);
        for (int k = 0; k < K; ++k) channel[k][i] = out.c[k];
    }
}

// Returns whether the op is active for this sample.
template <class R, int K, class Op>
inline bool apply_op(const Op& op, const PixelContext<R>& context, int count, R (*channel)[segment_width]) {
    bool active = false;
    for_each_step(
        op,
        [&](const auto& step) {
            apply_step<R, K>(cpu_variant(step), context, count, channel);
            active = true;
        },
        0);
    return active;
}

}  // namespace cuaug
