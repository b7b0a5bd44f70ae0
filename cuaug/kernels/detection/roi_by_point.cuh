#pragma once

#include "detection/roi_align_bins.cuh"
#include "detection/roi_pool_bins.cuh"
#include "gpu/convert.cuh"

// Pooling point by point: a thread pools a group of channels of one bin, and computes the taps of each sampling point
// once for the group.

namespace cuaug {

enum class Reduction { average, max, argmax };  // argmax: the maximum, and which sampling point it is

constexpr int pooled_channels = 4;  // that a thread pools, if channels are not adjacent in memory

// `vector`: how many adjacent channels are read as one vector; 0: channels are not adjacent.
template <int vector>
constexpr int thread_channels = vector == 0 ? pooled_channels : vector;

template <class T, int W>
struct alignas(W * sizeof(T)) ChannelVector {
    T channel[W];
};

// Reads W channels. If they are not a vector, channel `last` replaces those after it.
template <int vector, class T, class R>
inline void read_channels(const T* in, long long step, int last, R* value) {
    constexpr int W = thread_channels<vector>;
    if constexpr (vector > 0) {
        const ChannelVector<T, W> loaded = *reinterpret_cast<const ChannelVector<T, W>*>(in);
        for (int j = 0; j < W; ++j) value[j] = to_compute<R>(loaded.channel[j]);
    } else {
        for (int j = 0; j < W; ++j) value[j] = to_compute<R>(in[min(j, last) * step]);
    }
}

template <int vector, class T, class R>
inline void write_channels(T* out, long long step, int last, const R* value) {
    constexpr int W = thread_channels<vector>;
    if constexpr (vector > 0) {
        ChannelVector<T, W> stored;
        for (int j = 0; j < W; ++j) stored.channel[j] = saturate_cast<T>(value[j]);
        *reinterpret_cast<ChannelVector<T, W>*>(out) = stored;
    } else {
        for (int j = 0; j < W; ++j)
            if (j <= last) out[j * step] = saturate_cast<T>(value[j]);
    }
}

// Adds a sampling point to `value`.
template <int vector, class T, class R>
inline void add_point(const PointTaps<R>& taps, const T* in, const FeatureMap& map, int last, R* value) {
    constexpr int W = thread_channels<vector>;
    for_each_corner(taps, map, [&](long long offset, R weight) {
        R pixel[W];
        read_channels<vector>(in + offset, map.c_stride, last, pixel);
        for (int j = 0; j < W; ++j) value[j] += weight * pixel[j];
    });
}

// The bins of a block's region, computed by one thread.
template <class Bins>
inline const Bins& make_shared_bins(const RoiRecord& args, long long k) {
    __shared__ Bins bins;
    if (threadIdx.x == 0) bins = Bins(args, k);
    __syncthreads();
    return bins;
}

// A sampling point as one number: its row and column among the points of its bin, or for roi_pool in the map.
inline long long pack_point(long long row, long long column) { return row << 32 | column; }
inline long long point_row(long long point) { return point >> 32; }
inline long long point_column(long long point) { return point & 0xffffffffll; }

// Writes the numbers of the sampling points of W channels, up to channel `last`.
template <int W>
inline void write_argmax(const RoiArgmaxRecord& args, long long offset, int last, const long long (&point)[W]) {
    if (args.argmax_is_int32) {
        int* out = static_cast<int*>(args.argmax.data) + offset;
        for (int j = 0; j < W; ++j)
            if (j <= last)
                out[j * args.argmax.c_stride] =
                    point[j] < 0 ? -1 : static_cast<int>(point_row(point[j]) << 16 | point_column(point[j]));
    } else {
        long long* out = static_cast<long long*>(args.argmax.data) + offset;
        for (int j = 0; j < W; ++j)
            if (j <= last) out[j * args.argmax.c_stride] = point[j];
    }
}

template <int W>
inline void read_argmax(const RoiArgmaxRecord& args, long long offset, int last, long long (&point)[W]) {
    if (args.argmax_is_int32) {
        const int* in = static_cast<const int*>(args.argmax.data) + offset;
        int loaded[W];
        for (int j = 0; j < W; ++j) loaded[j] = j <= last ? in[j * args.argmax.c_stride] : -1;
        for (int j = 0; j < W; ++j) point[j] = loaded[j] < 0 ? -1 : pack_point(loaded[j] >> 16, loaded[j] & 0xffff);
    } else {
        const long long* in = static_cast<const long long*>(args.argmax.data) + offset;
        for (int j = 0; j < W; ++j) point[j] = j <= last ? in[j * args.argmax.c_stride] : -1;
    }
}

// Pools W channels of one bin. `argmax` is written for Reduction::argmax only.
template <Reduction reduction, int vector, class T, class R, class Bins>
inline void pool_bin_by_point(const RoiRecord& args, const Bins& bins, int y, int x, const T* in, const FeatureMap& map,
                              int last, R* value, long long* argmax) {
    constexpr int W = thread_channels<vector>;
    for (int j = 0; j < W; ++j) value[j] = 0;
    if (bins.n < 0) return;
    const IndexRect points = bins.points_of(args, y, x);
    bool has_value = false;
    for (long long row = points.rows.first; row < points.rows.end; ++row)
        for (long long column = points.columns.first; column < points.columns.end; ++column) {
            const PointTaps<R> taps = bins.point_taps(args, y, x, row, column);
            if constexpr (reduction == Reduction::average) {
                add_point<vector>(taps, in, map, last, value);
            } else {
                R point_value[W] = {};
                add_point<vector>(taps, in, map, last, point_value);
                for (int j = 0; j < W; ++j)
                    if (!has_value || replaces_max(point_value[j], value[j])) {
                        value[j] = point_value[j];
                        if constexpr (reduction == Reduction::argmax) argmax[j] = pack_point(row, column);
                    }
                has_value = true;
            }
        }
    if constexpr (reduction == Reduction::average) {
        const R count = bins.point_count(args, y, x);
        for (int j = 0; j < W; ++j) value[j] /= count;
    } else if (bins.has_outside_points(points)) {
        for (int j = 0; j < W; ++j)
            if (replaces_max(R(0), value[j])) {
                value[j] = 0;
                if constexpr (reduction == Reduction::argmax) argmax[j] = -1;
            }
    }
}

// Pools the bins of region k: items `first`, `first` + `step`, ... are the thread's. Adjacent threads have adjacent
// bins, or adjacent channels if these are adjacent in memory.
template <class T, Reduction reduction, int vector, class Record, class Bins>
inline void pool_region_by_point(const Record& args, const Bins& bins, long long k, long long first, long long step) {
    using R = ComputeType<T>;
    constexpr int W = thread_channels<vector>;
    const FeatureMap& map = bins.level->values;
    const int bin_count = args.out_height * args.out_width, groups = (args.channels + W - 1) / W;
    for (long long item = first; item < static_cast<long long>(bin_count) * groups; item += step) {
        const int bin = static_cast<int>(vector > 0 ? item / groups : item % bin_count),
                  group = static_cast<int>(vector > 0 ? item % groups : item / bin_count);
        const int y = bin / args.out_width, x = bin % args.out_width, c = group * W,
                  last = min(W, args.channels - c) - 1;
        const T* in =
            static_cast<const T*>(map.data) + bins.n * map.n_stride + c * map.c_stride + bin * args.bin_stride;
        const long long offset =
            k * args.pooled.n_stride + c * args.pooled.c_stride + y * args.pooled.y_stride + x * args.pooled.x_stride;
        R value[W];
        if constexpr (reduction == Reduction::argmax) {
            long long argmax[W];
            for (int j = 0; j < W; ++j) argmax[j] = -1;
            pool_bin_by_point<reduction, vector>(args, bins, y, x, in, map, last, value, argmax);
            write_argmax(args,
                         k * args.argmax.n_stride + c * args.argmax.c_stride + y * args.argmax.y_stride +
                             x * args.argmax.x_stride,
                         last, argmax);
        } else {
            pool_bin_by_point<reduction, vector>(args, bins, y, x, in, map, last, value, nullptr);
        }
        write_channels<vector>(static_cast<T*>(args.pooled.data) + offset, args.pooled.c_stride, last, value);
    }
}

}  // namespace cuaug
