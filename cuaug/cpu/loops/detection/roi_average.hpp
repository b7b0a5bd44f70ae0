#pragma once

#include "roi.hpp"

// Upright averages and their gradient. A row of bins is a sum of rows of pixels, of which each bin is a sum of columns.

namespace cuaug {

// W channels of a bin, from memory and to it.
template <int W, class T, class R>
inline void read_bin(const Pooling& args, long long k, int c, int y, int x, R* value) {
    const T* in = static_cast<const T*>(args.pooled.data) + k * args.pooled.n + c * args.pooled.c + y * args.pooled.y +
                  x * args.pooled.x;
    for (int i = 0; i < W; ++i) value[i] = to_compute<R>(in[i * args.pooled.c]);
}

template <int W, class T, class R>
inline void write_bin(const Pooling& args, long long k, int c, int y, int x, const R* value) {
    T* out = static_cast<T*>(args.pooled.data) + k * args.pooled.n + c * args.pooled.c + y * args.pooled.y +
             x * args.pooled.x;
    for (int i = 0; i < W; ++i) out[i * args.pooled.c] = saturate_cast<T>(value[i]);
}

template <int W, class T, class R>
inline void average_group(const Pooling& args, const Averages<R>& region, const T* in, const Maps& maps, long long k,
                          int c, R* sums) {
    const Vector<Part<R>>&down = region.down.parts, &across = region.across.parts;
    const long long columns = region.columns.offset.count();
    for (int y = 0; y < args.out_height; ++y) {
        const long long first = region.down.first[y], last = region.down.first[y + 1];
        if constexpr (W == 1) {
            for (long long r = first; r < last; ++r) {
                const T* row = in + down[r].at * maps.y;
                const R weight = down[r].weight;
                if (region.columns.dense) {
                    const T* part = row + region.columns.offset[0];
                    if (r == first)
                        for (long long i = 0; i < columns; ++i) sums[i] = weight * to_compute<R>(part[i]);
                    else
                        for (long long i = 0; i < columns; ++i) sums[i] += weight * to_compute<R>(part[i]);
                } else {
                    for (long long i = 0; i < columns; ++i)
                        sums[i] = (r == first ? R(0) : sums[i]) + weight * to_compute<R>(row[region.columns.offset[i]]);
                }
            }
        } else {
            for (long long i = 0; i < columns && first < last; ++i) {
                R sum[W] = {};
                for (long long r = first; r < last; ++r) {
                    const T* pixel = in + down[r].at * maps.y + region.columns.offset[i];
                    const R weight = down[r].weight;
                    for (int j = 0; j < W; ++j) sum[j] += weight * to_compute<R>(pixel[j]);
                }
                for (int j = 0; j < W; ++j) sums[i * W + j] = sum[j];
            }
        }
        for (int x = 0; x < args.out_width; ++x) {
            R bin[W] = {};
            for (long long p = region.across.first[x]; p < region.across.first[x + 1] && first < last; ++p)
                for (int j = 0; j < W; ++j) bin[j] += across[p].weight * sums[across[p].at * W + j];
            write_bin<W, T>(args, k, c, y, x, bin);
        }
    }
}

template <int W, class T, class R>
inline void write_nothing(const Pooling& args, long long k, int c) {
    const R nothing[W] = {};
    for (int y = 0; y < args.out_height; ++y)
        for (int x = 0; x < args.out_width; ++x) write_bin<W, T>(args, k, c, y, x, nothing);
}

// Upright averages.
template <class T, class R>
inline void average(const Pooling& args, long long k, const Channels& channels) {
    const Roi<R> roi = read_roi<R>(args, k);
    const Maps& maps = args.level[roi.level].values;
    Averages<R> region;
    if (roi.n >= 0) region.fill(args, roi, maps);
    Vector<R> sums(channel_group * (region.columns.offset.count() + 1));
    in_groups(channels, maps.c == 1 && channels_inside(maps), [&](int c, auto wide) {
        if (roi.n < 0) return write_nothing<wide.value, T, R>(args, k, c);
        average_group<wide.value>(args, region, static_cast<const T*>(maps.data) + roi.n * maps.n + c * maps.c, maps, k,
                                  c, sums.data());
    });
}

// The way back: a bin's gradient to its columns, and those to its rows.
template <int W, class T, class R>
inline void spread_group(const Pooling& args, const Averages<R>& region, R* to, const Maps& maps, long long k, int c,
                         R* sums) {
    const Vector<Part<R>>&down = region.down.parts, &across = region.across.parts;
    const long long columns = region.columns.offset.count();
    for (int y = 0; y < args.out_height; ++y) {
        if (region.down.first[y] == region.down.first[y + 1]) continue;
        for (long long i = 0; i < columns * W; ++i) sums[i] = 0;
        for (int x = 0; x < args.out_width; ++x) {
            R bin[W];
            read_bin<W, T>(args, k, c, y, x, bin);
            for (long long p = region.across.first[x]; p < region.across.first[x + 1]; ++p)
                for (int j = 0; j < W; ++j) sums[across[p].at * W + j] += across[p].weight * bin[j];
        }
        for (long long r = region.down.first[y]; r < region.down.first[y + 1]; ++r) {
            R* row = to + down[r].at * maps.y;
            const R weight = down[r].weight;
            if (W == 1 && region.columns.dense) {
                R* part = row + region.columns.offset[0];
                for (long long i = 0; i < columns; ++i) part[i] += weight * sums[i];
            } else {
                for (long long i = 0; i < columns; ++i)
                    for (int j = 0; j < W; ++j) row[region.columns.offset[i] + j] += weight * sums[i * W + j];
            }
        }
    }
}

// `to`: the gradients of one sample, as `maps` says.
template <class T, class R>
inline void spread(const Pooling& args, long long k, const Channels& channels, R* to, const Maps& maps) {
    const Roi<R> roi = read_roi<R>(args, k);
    if (roi.n < 0) return;
    Averages<R> region;
    region.fill(args, roi, maps);
    Vector<R> sums(channel_group * (region.columns.offset.count() + 1));
    in_groups(channels, maps.c == 1 && channels_inside(maps), [&](int c, auto wide) {
        spread_group<wide.value, T>(args, region, to + (c - channels.first) * maps.c, maps, k, c, sums.data());
    });
}

}  // namespace cuaug
