#pragma once

#include "pointwise.hpp"
#include "coordinate_tile.hpp"

namespace cuaug {

// The least and the greatest values of up to four channels from c on, eight columns side by side. A NaN is neither.
template <class T, class R = Real<T>>
inline void extremes_of(const Batch& args, long long n, int c, PointwiseMemory<R>& memory,
                        typename Eight<R>::type (&lows)[4], typename Eight<R>::type (&highs)[4]) {
    for (int t = 0; t < args.frames; ++t) {
        const Plane in = plane<T>(args.in, n, t, c, args.channels);
        for (int y = 0; y < args.in_height; ++y)
            for (int x = 0; x < args.in_width; x += piece_width) {
                const int count = args.in_width - x < piece_width ? args.in_width - x : piece_width;
                load_channels<T>(in, y, x, count, R(1), memory);
                for (int k = 0; k < in.channels; ++k) {
                    R* values = memory.channel[k];
                    for (int i = count; i % 8 != 0; ++i) values[i] = values[count - 1];
                    for (int i = 0; i < count; i += 8) {
                        typename Eight<R>::type value;
                        memcpy(&value, values + i, sizeof(value));
                        lows[k] = value < lows[k] ? value : lows[k];
                        highs[k] = value > highs[k] ? value : highs[k];
                    }
                }
            }
    }
}

// As kernels/extremes.cu: a task is a sample.
inline void extremes_task(const native::ImageCall& call, long long n, void* workspace) {
    const Pointwise args = pointwise_record(call.record);
    with_source(call.source, [&](auto element) {
        using T = decltype(element);
        using R = Real<T>;
        double* out = static_cast<double*>(args.out.data) + 2 * n * args.channels;
        if (parameter(args, n, 0) == 0.0) {
            for (int i = 0; i < 2 * args.channels; ++i) out[i] = __builtin_nan("");
            return;
        }
        for (int c = 0; c < args.channels; c += 4) {
            typename Eight<R>::type lows[4], highs[4];
            for (auto& eight : lows) eight = typename Eight<R>::type{} + R(__builtin_inff());
            for (auto& eight : highs) eight = typename Eight<R>::type{} - R(__builtin_inff());
            extremes_of<T>(args, n, c, *static_cast<PointwiseMemory<R>*>(workspace), lows, highs);
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
