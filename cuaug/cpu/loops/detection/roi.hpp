#pragma once

#include "detection/roi_align_bins.cuh"
#include "detection/roi_pool_bins.cuh"
#include "../convert.hpp"
#include "../dispatch_dtype.hpp"
#include "../vector.hpp"

// For pooling and its gradient: groups of channels, and the bins of average pooling as weighted sums of pixels.

namespace cuaug {

// Channels first .. end - 1.
struct ChannelRange {
    int first, end;
};

// The channels of part `part` of `parts`. Every part begins at a multiple of roi_channel_group channels.
inline ChannelRange channel_range(const RoiRecord& args, int part, int parts) {
    const long long groups = (args.channels + roi_channel_group - 1) / roi_channel_group;
    const long long first = roi_channel_group * (groups * part / parts),
                    end = roi_channel_group * (groups * (part + 1) / parts);
    return {static_cast<int>(first), static_cast<int>(end < args.channels ? end : args.channels)};
}

// Calls `visit(channel, Int<W>)` for groups of W = roi_channel_group channels if channels are adjacent in memory, and
// for single channels otherwise and at the end.
template <class Visitor>
inline void for_each_group(const ChannelRange& channels, bool channels_last, const Visitor& visit) {
    int c = channels.first;
    for (; channels_last && c + roi_channel_group <= channels.end; c += roi_channel_group)
        visit(c, Int<roi_channel_group>());
    for (; c < channels.end; ++c) visit(c, Int<1>());
}

// The bins of one axis: bin i is the sum of entries first[i] .. first[i + 1] - 1.
template <class R>
struct AxisBins {
    Vector<PixelWeight<R>> entries;
    Vector<long long> first;
    int low = 0x7fffffff, high = -1;  // the lowest and the highest pixel of all entries

    void add(int pixel, R weight) {
        if (weight == R(0)) return;
        // Adjacent sampling points share pixels: the pixel may be one of the last two entries of the bin.
        for (long long i = entries.count(); i-- > first[first.count() - 1] && i + 2 >= entries.count();)
            if (entries[i].pixel == pixel) {
                entries[i].weight += weight;
                return;
            }
        entries.add({pixel, weight});
        low = pixel < low ? pixel : low;
        high = pixel > high ? pixel : high;
    }

    // Computes the bins. The average of a bin's sampling points is a weighted sum of pixels; the weight of a pixel is
    // the product of its weights along y and x.
    void fill(const RoiAxis<R>& axis, int bins, int extent) {
        for (int bin = 0; bin < bins; ++bin) {
            first.add(entries.count());
            const IndexRange range = points_between(axis, bin, R(-1), R(extent));
            for (long long i = range.first; i < range.end; ++i) {
                const Tap<R> tap = make_tap(point_coordinate(axis, bin, i), extent);
                if (!tap.is_inside) continue;
                add(tap.low, (R(1) - tap.high_weight) / axis.points);
                add(tap.high, tap.high_weight / axis.points);
            }
        }
        first.add(entries.count());
    }
};

// The columns of the map that the bins of a region read: all columns between the outermost ones if most of them are
// used, otherwise one column for each entry.
template <class R>
struct ColumnOffsets {
    Vector<long long> offset;
    bool is_dense = false;  // the columns are adjacent in memory

    // Computes the offsets, and replaces the pixel of each entry by an index into them.
    void fill(AxisBins<R>& columns, long long stride) {
        const long long span = columns.high - columns.low + 1, count = columns.entries.count();
        // Eight adjacent columns take as long as two separate ones.
        const bool takes_all = span <= (stride == 1 ? 4 : 1) * count;
        for (long long i = 0; i < (takes_all ? span : count); ++i)
            offset.add((takes_all ? columns.low + i : columns.entries[i].pixel) * stride);
        for (long long i = 0; i < count; ++i)
            columns.entries[i].pixel = takes_all ? columns.entries[i].pixel - columns.low : static_cast<int>(i);
        is_dense = takes_all && stride == 1 && count > 0;
    }
};

// The bins of an unrotated region, as weighted sums of pixels. The `pixel` of an entry of `columns` is an index of
// `offsets`.
template <class R>
struct SeparableBins {
    AxisBins<R> rows, columns;
    ColumnOffsets<R> offsets;

    void fill(const RoiRecord& args, const Roi<R>& roi, const FeatureMap& map) {
        const RoiLevel& level = args.level[roi.level];
        rows.fill(roi.y, args.out_height, level.height);
        columns.fill(roi.x, args.out_width, level.width);
        offsets.fill(columns, map.x_stride);
    }
};

// Reads W channels of a bin.
template <int W, class T, class R>
inline void read_bin(const RoiRecord& args, long long k, int c, int y, int x, R* value) {
    const T* in = static_cast<const T*>(args.pooled.data) + k * args.pooled.n_stride + c * args.pooled.c_stride +
                  y * args.pooled.y_stride + x * args.pooled.x_stride;
    for (int i = 0; i < W; ++i) value[i] = to_compute<R>(in[i * args.pooled.c_stride]);
}

// Writes W channels of a bin.
template <int W, class T, class R>
inline void write_bin(const RoiRecord& args, long long k, int c, int y, int x, const R* value) {
    T* out = static_cast<T*>(args.pooled.data) + k * args.pooled.n_stride + c * args.pooled.c_stride +
             y * args.pooled.y_stride + x * args.pooled.x_stride;
    for (int i = 0; i < W; ++i) out[i * args.pooled.c_stride] = saturate_cast<T>(value[i]);
}

}  // namespace cuaug
