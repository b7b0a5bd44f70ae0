#pragma once

#include "detection/roi_by_point.cuh"

// The backward pass of roi_by_point.cuh: gradients are added to the pixels atomically, in no fixed order.

namespace cuaug {

constexpr int scattered_channels = 8;  // whose gradients a thread adds, if channels are not adjacent in memory

// Adds `scale` times the gradients of one sampling point to the pixels that it is interpolated from, for channels
// 0 .. last of W, counted from the channel at `out`.
template <class R, int W>
inline void scatter_point(const PointTaps<R>& taps, const FeatureMap& map, R* out, int last, const R (&gradient)[W],
                          R scale) {
    for_each_corner(taps, map, [&](long long offset, R weight) {
        for (int j = 0; j < W; ++j)
            if (j <= last) atomicAdd(out + offset + j * map.c_stride, weight * scale * gradient[j]);
    });
}

// Scatters the gradients of the bins of region k: items `first`, `first` + `step`, ... are the thread's, divided as in
// `pool_region_by_point`.
template <class T, bool is_max, bool channels_last, class Record, class Bins>
inline void scatter_region(const Record& args, const Bins& bins, long long k, long long first, long long step) {
    using R = ComputeType<T>;
    constexpr int W = channels_last ? 1 : scattered_channels;
    if (bins.n < 0) return;
    const FeatureMap &map = bins.level->gradients, &pooled = args.pooled;
    const int bin_count = args.out_height * args.out_width, groups = (args.channels + W - 1) / W;
    for (long long item = first; item < static_cast<long long>(bin_count) * groups; item += step) {
        const int bin = static_cast<int>(channels_last ? item / groups : item % bin_count),
                  group = static_cast<int>(channels_last ? item % groups : item / bin_count);
        const int y = bin / args.out_width, x = bin % args.out_width, c = group * W,
                  last = min(W, args.channels - c) - 1;
        R* out = static_cast<R*>(map.data) + bins.n * map.n_stride + c * map.c_stride;
        const T* in = static_cast<const T*>(pooled.data) + k * pooled.n_stride + c * pooled.c_stride +
                      y * pooled.y_stride + x * pooled.x_stride;
        R gradient[W];
        for (int j = 0; j < W; ++j) gradient[j] = to_compute<R>(in[min(j, last) * pooled.c_stride]);
        if constexpr (is_max) {
            long long point[W];
            read_argmax(args,
                        k * args.argmax.n_stride + c * args.argmax.c_stride + y * args.argmax.y_stride +
                            x * args.argmax.x_stride,
                        last, point);
            for (int j = 0; j < W; ++j) {
                if (point[j] < 0) continue;
                const R channel_gradient[1] = {gradient[j]};
                scatter_point(bins.point_taps(args, y, x, point_row(point[j]), point_column(point[j])), map,
                              out + j * map.c_stride, 0, channel_gradient, R(1));
            }
        } else {
            const IndexRect points = bins.points_of(args, y, x);
            for (long long i = points.rows.first; i < points.rows.end; ++i)
                for (long long j = points.columns.first; j < points.columns.end; ++j)
                    scatter_point(bins.point_taps(args, y, x, i, j), map, out, last, gradient,
                                  R(1) / bins.point_count(args, y, x));
        }
    }
}

}  // namespace cuaug
