#pragma once

#include "roi.hpp"

// Averages of unrotated regions, and their gradient. For each row of bins, rows of pixels are added up with weights;
// each bin is a weighted sum of entries of that row of sums. `pixel` of an entry of `rows` is a row of the map, that of
// an entry of `columns` an index into the sums (ColumnOffsets::fill).

namespace cuaug {

// For one row of bins, adds up its rows of pixels with their weights: entries first .. end - 1 of `bins.rows`. `sums`
// has one entry per column of one channel.
template <class T, class R>
inline void sum_channel_rows(const SeparableBins<R>& bins, const T* in, const FeatureMap& map, long long first,
                             long long end, R* sums) {
    const Vector<PixelWeight<R>>& rows = bins.rows.entries;
    const long long columns = bins.offsets.offset.count();
    for (long long r = first; r < end; ++r) {
        const T* row = in + rows[r].pixel * map.y_stride;
        const R weight = rows[r].weight;
        if (bins.offsets.is_dense) {
            const T* dense_columns = row + bins.offsets.offset[0];
            if (r == first)
                for (long long i = 0; i < columns; ++i) sums[i] = weight * to_compute<R>(dense_columns[i]);
            else
                for (long long i = 0; i < columns; ++i) sums[i] += weight * to_compute<R>(dense_columns[i]);
        } else {
            for (long long i = 0; i < columns; ++i)
                sums[i] = (r == first ? R(0) : sums[i]) + weight * to_compute<R>(row[bins.offsets.offset[i]]);
        }
    }
}

// Averages W channels of region k.
template <int W, class T, class R>
inline void average_group(const RoiRecord& args, const SeparableBins<R>& bins, const T* in, const FeatureMap& map,
                          long long k, int c, R* sums) {
    const Vector<PixelWeight<R>>&rows = bins.rows.entries, &columns = bins.columns.entries;
    const long long width = bins.offsets.offset.count();
    for (int y = 0; y < args.out_height; ++y) {
        const long long first = bins.rows.first[y], end = bins.rows.first[y + 1];
        if constexpr (W == 1) {
            sum_channel_rows(bins, in, map, first, end, sums);
        } else {
            for (long long i = 0; i < width && first < end; ++i) {
                R sum[W] = {};
                for (long long r = first; r < end; ++r) {
                    const T* pixel = in + rows[r].pixel * map.y_stride + bins.offsets.offset[i];
                    const R weight = rows[r].weight;
                    for (int j = 0; j < W; ++j) sum[j] += weight * to_compute<R>(pixel[j]);
                }
                for (int j = 0; j < W; ++j) sums[i * W + j] = sum[j];
            }
        }
        for (int x = 0; x < args.out_width; ++x) {
            R bin[W] = {};
            for (long long i = bins.columns.first[x]; i < bins.columns.first[x + 1] && first < end; ++i)
                for (int j = 0; j < W; ++j) bin[j] += columns[i].weight * sums[columns[i].pixel * W + j];
            write_bin<W, T>(args, k, c, y, x, bin);
        }
    }
}

// For a region that belongs to no sample (`roi.n` is -1).
template <int W, class T, class R>
inline void write_zeros(const RoiRecord& args, long long k, int c) {
    const R zeros[W] = {};
    for (int y = 0; y < args.out_height; ++y)
        for (int x = 0; x < args.out_width; ++x) write_bin<W, T>(args, k, c, y, x, zeros);
}

template <class T, class R>
inline void average_region(const RoiRecord& args, long long k, const ChannelRange& channels) {
    const Roi<R> roi = read_roi<R>(args, k);
    const FeatureMap& map = args.level[roi.level].values;
    SeparableBins<R> bins;
    if (roi.n >= 0) bins.fill(args, roi, map);
    Vector<R> sums(roi_channel_group * bins.offsets.offset.count());
    for_each_group(channels, map.c_stride == 1 && is_channels_last(map), [&](int c, auto width) {
        if (roi.n < 0) return write_zeros<width.value, T, R>(args, k, c);
        average_group<width.value>(args, bins,
                                   static_cast<const T*>(map.data) + roi.n * map.n_stride + c * map.c_stride, map, k, c,
                                   sums.data());
    });
}

// Backward: adds the gradients of a row of bins to sums per column, and these to the rows of the map.
template <int W, class T, class R>
inline void scatter_group(const RoiRecord& args, const SeparableBins<R>& bins, R* out, const FeatureMap& map,
                          long long k, int c, R* sums) {
    const Vector<PixelWeight<R>>&rows = bins.rows.entries, &columns = bins.columns.entries;
    const long long width = bins.offsets.offset.count();
    for (int y = 0; y < args.out_height; ++y) {
        if (bins.rows.first[y] == bins.rows.first[y + 1]) continue;
        for (long long i = 0; i < width * W; ++i) sums[i] = 0;
        for (int x = 0; x < args.out_width; ++x) {
            R bin[W];
            read_bin<W, T>(args, k, c, y, x, bin);
            for (long long i = bins.columns.first[x]; i < bins.columns.first[x + 1]; ++i)
                for (int j = 0; j < W; ++j) sums[columns[i].pixel * W + j] += columns[i].weight * bin[j];
        }
        for (long long r = bins.rows.first[y]; r < bins.rows.first[y + 1]; ++r) {
            R* row = out + rows[r].pixel * map.y_stride;
            const R weight = rows[r].weight;
            if (W == 1 && bins.offsets.is_dense) {
                R* dense_columns = row + bins.offsets.offset[0];
                for (long long i = 0; i < width; ++i) dense_columns[i] += weight * sums[i];
            } else {
                for (long long i = 0; i < width; ++i)
                    for (int j = 0; j < W; ++j) row[bins.offsets.offset[i] + j] += weight * sums[i * W + j];
            }
        }
    }
}

// Backward: adds the gradients of region k. `out` has the gradients of the region's sample, with the strides of `map`,
// from the first channel of `channels` on.
template <class T, class R>
inline void scatter_average(const RoiRecord& args, long long k, const ChannelRange& channels, R* out,
                            const FeatureMap& map) {
    const Roi<R> roi = read_roi<R>(args, k);
    if (roi.n < 0) return;
    SeparableBins<R> bins;
    bins.fill(args, roi, map);
    Vector<R> sums(roi_channel_group * bins.offsets.offset.count());
    for_each_group(channels, map.c_stride == 1 && is_channels_last(map), [&](int c, auto width) {
        scatter_group<width.value, T>(args, bins, out + (c - channels.first) * map.c_stride, map, k, c, sums.data());
    });
}

}  // namespace cuaug
