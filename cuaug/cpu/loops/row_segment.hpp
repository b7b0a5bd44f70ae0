#pragma once

#include "ops/chain.cuh"
#include "cpu_variant.hpp"

// A piece of a row, channel by channel, and an op that goes over it.

namespace cuaug {

constexpr int segment_width = 256;

template <int N>
struct Channels {
    static constexpr int value = N;
};

template <class Visitor>
inline void dispatch_channels(int channels, const Visitor& visit) {
    switch (channels) {
        case 1:
            return visit(Channels<1>());
        case 2:
            return visit(Channels<2>());
        case 3:
            return visit(Channels<3>());
        default:
            return visit(Channels<4>());
    }
}

// Flat: with one call left in it, which the compiler leaves where an op is long, the loop is no SIMD code (noise: 42 ns
// a pixel, not 16).
template <class R, int K, class Op>
__attribute__((noinline, flatten)) void apply_step(const Op& op, const Where<R>& where, int count,
                                                   R (*__restrict__ channel)[segment_width]) {
    for (int i = 0; i < count; ++i) {
        Pixel<R, K> in;
        for (int k = 0; k < K; ++k) in.c[k] = channel[k][i];
        Where<R> here = where;
        here.x += i;
        const Pixel<R, K> out = op(in, here);
        for (int k = 0; k < K; ++k) channel[k][i] = out.c[k];
    }
}

// Whether it had something to do.
template <class R, int K, class Op>
inline bool apply(const Op& op, const Where<R>& where, int count, R (*channel)[segment_width]) {
    bool changed = false;
    each_step(
        op,
        [&](const auto& step) {
            apply_step<R, K>(cpu_variant(step), where, count, channel);
            changed = true;
        },
        0);
    return changed;
}

}  // namespace cuaug
