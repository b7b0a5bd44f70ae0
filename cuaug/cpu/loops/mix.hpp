#pragma once

#include "ops/mixes/mixes.cuh"
#include "ops/chain.cuh"
#include "records/pointwise.cuh"
#include "batch_record.hpp"
#include "channel_io.hpp"
#include "segment_tasks.hpp"

namespace cuaug {

// Mixes `count` pixels of a segment, given as an array per channel, with their partners; the result replaces `channel`.
// Not inlined, so that dtypes of one compute type share the code.
template <class R, int K, class Op>
__attribute__((noinline)) void mix_pixels(const Op& op, const PixelContext<R>& context, int count,
                                          R (*__restrict__ channel)[segment_width],
                                          const R (*__restrict__ partner)[segment_width]) {
    for (int i = 0; i < count; ++i) {
        Pixel<R, K> a, b;
        for (int k = 0; k < K; ++k) a.c[k] = channel[k][i], b.c[k] = partner[k][i];
        PixelContext<R> pixel_context = context;
        pixel_context.x += i;
        const Pixel<R, K> out = op(a, b, pixel_context);
        for (int k = 0; k < K; ++k) channel[k][i] = out.c[k];
    }
}

template <class R>
struct MixWorkspace {
    SegmentWorkspace<R> pixels, partner;
};
static_assert(sizeof(MixWorkspace<double>) <= native::workspace_bytes);

template <class T>
inline void mix_segment(native::Mix mix, const PointwiseRecord& args, long long n, long long t, int y, int x, int count,
                        MixWorkspace<ComputeType<T>>& workspace) {
    using R = ComputeType<T>;
    const PixelContext<R> context = {x, y, args.in_width, args.in_height, R(max_value<T>), R(max_value<T>)};
    for (int c = 0; c < args.channels; c += 4) {
        load_channels<T>(channel_group<T>(args.in, n, t, c, args.channels), y, x, count, R(1), workspace.pixels);
        load_channels<T>(channel_group<T>(args.in, partner_of(args, n), t, c, args.channels), y, x, count, R(1),
                         workspace.partner);
        dispatch_channels(args.channels - c, [&](auto channels) {
            constexpr int K = decltype(channels)::value;
            dispatch(Mixes::For<R, K>(), static_cast<int>(mix), [&](auto functor) {
                // Column 0 of the parameters is the partner (partner_of); those of the op begin in column 1.
                const auto op = op_of<decltype(functor), R, K>([&](int i) { return parameter(args, n, i); }, 1, c,
                                                               args.channels, R(max_value<T>));
                mix_pixels<R, K>(op, context, count, workspace.pixels.channel, workspace.partner.channel);
            });
        });
        store_channels<T>(channel_group<T>(args.out, n, t, c, args.channels), y, x, count, R(1), workspace.pixels);
    }
}

void mix_task(const native::MixCall& call, long long task, void* memory) {
    const auto args = read_record<PointwiseRecord>(call.record);
    dispatch_image_dtype(call.dtype, [&](auto element) {
        using T = decltype(element);
        auto& workspace = *static_cast<MixWorkspace<ComputeType<T>>*>(memory);
        for_each_segment(args, task, [&](long long n, long long t, int y, int x, int count) {
            mix_segment<T>(call.mix, args, n, t, y, x, count, workspace);
        });
    });
}

long long mix_task_count(const native::MixCall& call) {
    return segment_task_count(read_record<PointwiseRecord>(call.record));
}

}  // namespace cuaug
