#pragma once

#include "pointwise.hpp"

namespace cuaug {

template <class T>
inline double luma_sum(const Pointwise& args, long long n, PointwiseMemory<Real<T>>& memory) {
    using R = Real<T>;
    double total = 0.0;
    for (int t = 0; t < args.frames; ++t) {
        const Plane in = plane<T>(args.in, n, t, 0, args.channels);
        for (int y = 0; y < args.in_height; ++y)
            for (int x = 0; x < args.in_width; x += piece_width) {
                const int count = args.in_width - x < piece_width ? args.in_width - x : piece_width;
                load_channels<T>(in, y, x, count, memory);
                const auto& c = memory.channel;
                R sum = R(0);
                for (int i = 0; i < count; ++i) sum += args.channels == 3 ? luma(Pixel<R, 3>{{c[0][i], c[1][i], c[2][i]}}) : c[0][i];
                total += static_cast<double>(sum);
            }
    }
    return total;
}

// As kernels/luma_mean.cu: a task is a sample.
inline void luma_mean_task(const native::PointwiseCall& call, long long n, void* workspace) {
    const Pointwise args = pointwise_record(call.record);
    with_source(call.source, [&](auto element) {
        using T = decltype(element);
        double* out = static_cast<double*>(args.out.data) + 2 * n;
        out[0] = parameter(args, n, 0);
        out[1] = luma_sum<T>(args, n, *static_cast<PointwiseMemory<Real<T>>*>(workspace)) / (1.0 * args.frames * args.in_height * args.in_width);
    });
}

inline long long luma_mean_tasks(const native::PointwiseCall& call) { return pointwise_record(call.record).samples; }

}  // namespace cuaug
