#pragma once

#include "roi.hpp"

// Pools sampling point by sampling point: averages of rotated regions, and maxima. The points have the same positions
// in all channels.

namespace cuaug {

constexpr int max_batch_points = 256;

template <int W, class T, class R>
inline void add_point(const RoiPoint<R>& point, const T* in, R* value) {
    for (int i = 0; i < point.pixels; ++i)
        for (int j = 0; j < W; ++j) value[j] += point.weight[i] * to_compute<R>(in[point.offset[i] + j]);
}

// Calls `visit(points, is_first)` with at most `max_batch_points` sampling points of a bin at a time; `is_first` is
// true in the first call. Points outside the map have the value 0. `Bins::for_each_point` visits some of them, which
// are passed to `visit` only if `with_outside`. Returns whether the bin has points that `for_each_point` does not
// visit.
template <class R, class Bins, class Visitor>
inline bool for_each_batch(const RoiRecord& args, const Bins& bins, int y, int x, Vector<RoiPoint<R>>& points,
                           bool with_outside, const Visitor& visit) {
    bool is_first = true;
    points.clear();
    const bool has_unvisited = bins.for_each_point(args, bins.level->values, y, x, [&](const RoiPoint<R>& point) {
        if (!with_outside && point.pixels == 0) return;
        points.add(point);
        if (points.count() < max_batch_points) return;
        visit(points, is_first);
        points.clear();
        is_first = false;
    });
    if (points.count() > 0) visit(points, is_first);
    return has_unvisited;
}

// Adds sampling points to the sums or maxima of W channels.
template <int W, bool is_max, class T, class R>
inline void reduce_points(const Vector<RoiPoint<R>>& points, bool is_first, const T* in, R* value) {
    for (long long i = 0; i < points.count(); ++i) {
        if constexpr (is_max) {
            R point_value[W] = {};
            add_point<W>(points[i], in, point_value);
            for (int j = 0; j < W; ++j)
                value[j] = (i == 0 && is_first) || replaces_max(point_value[j], value[j]) ? point_value[j] : value[j];
        } else {
            add_point<W>(points[i], in, value);
        }
    }
}

template <class T, class R, class Bins, bool is_max>
inline void pool_points(const RoiRecord& args, long long k, const ChannelRange& channels) {
    const Bins bins(args, k);
    const FeatureMap& map = bins.level->values;
    const bool channels_last = map.c_stride == 1 && is_channels_last(map);
    Vector<RoiPoint<R>> points;
    Vector<R> values(channels.end - channels.first);
    for (int y = 0; y < args.out_height; ++y)
        for (int x = 0; x < args.out_width; ++x) {
            const T* in = static_cast<const T*>(map.data) + bins.n * map.n_stride +
                          (static_cast<long long>(y) * args.out_width + x) * args.bin_stride;
            for (long long i = 0; i < values.count(); ++i) values[i] = 0;
            const auto reduce = [&](const Vector<RoiPoint<R>>& batch, bool is_first) {
                for_each_group(channels, channels_last, [&](int c, auto width) {
                    reduce_points<width.value, is_max>(batch, is_first, in + c * map.c_stride,
                                                       &values[c - channels.first]);
                });
            };
            const R count = bins.point_count(args, y, x);
            const bool has_unvisited = bins.n >= 0 && for_each_batch<R>(args, bins, y, x, points, is_max, reduce);
            for (int c = channels.first; c < channels.end; ++c) {
                R value = values[c - channels.first];
                if (is_max && has_unvisited && replaces_max(R(0), value)) value = 0;
                if (!is_max) value /= count;
                write_bin<1, T>(args, k, c, y, x, &value);
            }
        }
}

// For each channel, the index of the greatest sampling point of a bin, in the order of `Bins::for_each_point`; -1 if
// the bin has no points, or if the greatest is one that `for_each_point` does not visit because it lies outside the
// map.
template <class T, class R, class Bins>
inline void find_argmax(const RoiRecord& args, const Bins& bins, const ChannelRange& channels, int y, int x,
                        Vector<RoiPoint<R>>& points, Vector<R>& values, Vector<long long>& argmax) {
    const FeatureMap& map = bins.level->values;
    const int count = channels.end - channels.first;
    for (int c = 0; c < count; ++c) argmax[c] = -1;
    long long batch_begin = 0;
    const bool has_unvisited =
        for_each_batch<R>(args, bins, y, x, points, true, [&](const Vector<RoiPoint<R>>& batch, bool) {
            for (int c = 0; c < count; ++c) {
                const T* in =
                    static_cast<const T*>(map.data) + bins.n * map.n_stride + (channels.first + c) * map.c_stride;
                for (long long i = 0; i < batch.count(); ++i) {
                    R point_value = 0;
                    add_point<1>(batch[i], in, &point_value);
                    if (argmax[c] < 0 || replaces_max(point_value, values[c]))
                        values[c] = point_value, argmax[c] = batch_begin + i;
                }
            }
            batch_begin += batch.count();
        });
    for (int c = 0; c < count; ++c)
        if (has_unvisited && replaces_max(R(0), values[c])) argmax[c] = -1;
}

// Backward: adds the gradient of a bin to the pixels of all its sampling points, or of the greatest one.
template <class T, class R, class Bins, bool is_max>
inline void scatter_points(const RoiRecord& args, long long k, const ChannelRange& channels, R* out,
                           const FeatureMap& map) {
    const Bins bins(args, k);
    if (bins.n < 0) return;
    const int count = channels.end - channels.first;
    Vector<RoiPoint<R>> points;
    Vector<R> values(count);
    Vector<long long> argmax(count);
    auto scatter = [&](int c, const RoiPoint<R>& point, int y, int x) {
        R gradient;
        read_bin<1, T>(args, k, c, y, x, &gradient);
        if (!is_max) gradient /= bins.point_count(args, y, x);
        for (int i = 0; i < point.pixels; ++i)
            out[(c - channels.first) * map.c_stride + point.offset[i]] += point.weight[i] * gradient;
    };
    for (int y = 0; y < args.out_height; ++y)
        for (int x = 0; x < args.out_width; ++x) {
            if constexpr (is_max) {
                find_argmax<T>(args, bins, channels, y, x, points, values, argmax);
                // Visits the points again, with their offsets in the gradients.
                long long i = 0;
                bins.for_each_point(args, map, y, x, [&](const RoiPoint<R>& point) {
                    for (int c = 0; c < count; ++c)
                        if (argmax[c] == i) scatter(channels.first + c, point, y, x);
                    ++i;
                });
            } else {
                bins.for_each_point(args, map, y, x, [&](const RoiPoint<R>& point) {
                    for (int c = channels.first; c < channels.end && point.pixels > 0; ++c) scatter(c, point, y, x);
                });
            }
        }
}

}  // namespace cuaug
