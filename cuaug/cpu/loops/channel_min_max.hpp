#pragma once

#include "pointwise.hpp"
#include "coordinate_tile.hpp"

namespace cuaug {

// The least and the greatest values of up to four channels from c on, eight columns side by side. A NaN is neither.
template <class T, class R = ComputeType<T>>
inline void extremes_of(const Batch& args, long long n, int c, PointwiseWorkspace<R>& workspace,
                        typename Simd8<R>::type (&lows)[4], typename Simd8<R>::type (&highs)[4]) {
    for (int t = 0; t < args.frames; ++t) {
        const ChannelGroup in = channel_group<T>(args.in, n, t, c, args.channels);
        for (int y = 0; y < args.in_height; ++y)
            for (int x = 0; x < args.in_width; x += segment_width) {
                const int count = args.in_width - x < segment_width ? args.in_width - x : segment_width;
                load_channels<T>(in, y, x, count, R(1), workspace);
                for (int k = 0; k < in.channels; ++k) {
                    R* values = workspace.channel[k];
                    for (int i = count; i % 8 != 0; ++i) values[i] = values[count - 1];
                    for (int i = 0; i < count; i += 8) {
                        typename Simd8<R>::type value;
                        memcpy(&value, values + i, sizeof(value));
                        lows[k] = value < lows[k] ? value : lows[k];
                        highs[k] = value > highs[k] ? value : highs[k];
                    }
                }
            }
    }
}

// As kernels/passes/extremes.cu: a task is a sample.
inline void extremes_task(const native::ImageCall& call, long long n, void* memory) {
    const Pointwise args = pointwise_record(call.record);
    dispatch_image_dtype(call.source, [&](auto element) {
        using T = decltype(element);
        using R = ComputeType<T>;
        double* out = static_cast<double*>(args.out.data) + 2 * n * args.channels;
        if (parameter(args, n, 0) == 0.0) {
            for (int i = 0; i < 2 * args.channels; ++i) out[i] = __builtin_nan("");
            return;
        }
        for (int c = 0; c < args.channels; c += 4) {
            typename Simd8<R>::type lows[4], highs[4];
            for (auto& eight : lows) eight = typename Simd8<R>::type{} + R(__builtin_inff());
            for (auto& eight : highs) eight = typename Simd8<R>::type{} - R(__builtin_inff());
            extremes_of<T>(args, n, c, *static_cast<PointwiseWorkspace<R>*>(memory), lows, highs);
            for (int k = 0; k < 4 && c + k < args.channels; ++k) {
                R low = lows[k][0], high = highs[k][0];
                for (int i = 1; i < 8; ++i) low = fmin(lows[k][i], low), high = fmax(highs[k][i], high);
                out[c + k] = low;
                out[args.channels + c + k] = high;
            }
        }
    });
}

inline long long extremes_tasks(const native::ImageCall& call) { return pointwise_record(call.record).samples; }

}  // namespace cuaug
