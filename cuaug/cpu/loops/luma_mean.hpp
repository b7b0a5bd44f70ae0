#pragma once

#include "batch_record.hpp"
#include "chain.hpp"

namespace cuaug {

// The sum of a segment's luma. `omp simd` keeps several partial sums: with one sum every addition would wait for the
// previous one.
template <class R>
inline double segment_luma_sum(int channels, int count, const R (*channel)[segment_width]) {
    const R *r = channel[0], *g = channel[1], *b = channel[2];
    R sum = R(0);
    if (channels == 3) {
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < count; ++i) sum += luma(Pixel<R, 3>{{r[i], g[i], b[i]}});
    } else {
#pragma omp simd reduction(+ : sum)
        for (int i = 0; i < count; ++i) sum += r[i];
    }
    return static_cast<double>(sum);
}

template <class T>
inline double luma_sum(const native::PointwiseCall& call, const PointwiseRecord& args, long long n,
                       ChainWorkspace<ComputeType<T>>& workspace) {
    using R = ComputeType<T>;
    const R scale = call.op_count > 0 ? R(1) / R(max_value<T>) : R(1);  // ops see pixels in 0..1
    double total = 0.0;
    workspace.begin(false);
    if (call.op_count > 0 && !call.in_place) {
        bool is_needed = true;
        dispatch_channels(args.channels, [&](auto K) {
            prepare_chain<R, decltype(K)::value>(call, args, n, 0, R(max_value<T>), workspace);
            is_needed = chain_needs_mean<R, decltype(K)::value>(call, workspace);
        });
        if (!is_needed) return 0.0;
    }
    for (int t = 0; t < args.frames; ++t) {
        const ChannelGroup in = channel_group<T>(args.in, n, t, 0, args.channels);
        for (int y = 0; y < args.in_height; ++y)
            for (int x = 0; x < args.in_width; x += segment_width) {
                const int count = args.in_width - x < segment_width ? args.in_width - x : segment_width;
                load_channels<T>(in, y, x, count, scale, workspace);
                bool any_op_active = false;
                if (call.op_count > 0) {
                    const PixelContext<R> context = {
                        x, y, args.in_width, args.in_height, R(max_value<T>), R(max_value<T>), t};
                    dispatch_channels(args.channels, [&](auto K) {
                        prepare_chain<R, decltype(K)::value>(call, args, n, 0, context.max_value, workspace);
                        any_op_active = apply_chain<R, decltype(K)::value>(call, context, count, workspace);
                    });
                }
                total += segment_luma_sum(args.channels, count, workspace.channel);
                if (call.in_place && any_op_active) store_channels<T>(in, y, x, count, R(max_value<T>), workspace);
            }
    }
    return total / static_cast<double>(scale);
}

// The CPU loop that corresponds to kernels/passes/luma_mean.cu. A task is a sample.
void luma_mean_task(const native::PointwiseCall& call, long long n, void* memory) {
    const auto args = read_record<PointwiseRecord>(call.record);
    dispatch_image_dtype(call.in_dtype, [&](auto element) {
        using T = decltype(element);
        const double sum = luma_sum<T>(call, args, n, *static_cast<ChainWorkspace<ComputeType<T>>*>(memory));
        static_cast<double*>(args.out.data)[n * args.out.n_stride] =
            sum / (1.0 * args.frames * args.in_height * args.in_width);
    });
}

long long luma_mean_task_count(const native::PointwiseCall& call) {
    return read_record<PointwiseRecord>(call.record).samples;
}

}  // namespace cuaug
