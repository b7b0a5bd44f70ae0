#pragma once

#include "ops/chain.cuh"
#include "cpu_variant.hpp"
#include "dispatch.hpp"

// Applies an op to a segment: up to segment_width adjacent pixels of a row, held as one array per channel.

namespace cuaug {

constexpr int segment_width = 256;

// The arrays of a segment's channels. A step of an op reads its pixels from `in` and writes its results to `out`; the
// next step reads these. An array of `in` and one of `out` are the same or have no element in common.
template <class R>
struct SegmentRows {
    const R* in[4];
    R* out[4];

    // The next step reads `out`.
    void read_results() {
        for (int k = 0; k < 4; ++k) in[k] = out[k];
    }
};

// Applies one step of an op (for_each_step, ops/chain.cuh). `flatten` inlines every call. Without it the compiler
// leaves a call in a long op, and the loop is not vectorized (noise takes 42 ns a pixel instead of 16). The copies of
// the op and of the pointers are not changed by the stores of the loop, so that they stay in registers.
template <class R, int K, class Op>
__attribute__((noinline, flatten)) void apply_step(const Op& op, const PixelContext<R>& context, int count,
                                                   const SegmentRows<R>& rows) {
    const Op step = op;
    const R* in_row[K];
    R* out_row[K];
    for (int k = 0; k < K; ++k) in_row[k] = rows.in[k], out_row[k] = rows.out[k];
    const PixelContext<R> first_context = context;
#pragma omp simd
    for (int i = 0; i < count; ++i) {
        Pixel<R, K> in;
        for (int k = 0; k < K; ++k) in.c[k] = in_row[k][i];
        PixelContext<R> pixel_context = first_context;
        pixel_context.x += i;
        const Pixel<R, K> out = step(in, pixel_context);
        for (int k = 0; k < K; ++k) out_row[k][i] = out.c[k];
    }
}

// Applies the op's active steps for this sample. Returns whether there are any.
template <class R, int K, class Op>
inline bool apply_op(const Op& op, const PixelContext<R>& context, int count, SegmentRows<R>& rows) {
    bool active = false;
    for_each_step(
        op,
        [&](const auto& step) {
            apply_step<R, K>(cpu_variant(step), context, count, rows);
            rows.read_results();
            active = true;
        },
        0);
    return active;
}

}  // namespace cuaug
