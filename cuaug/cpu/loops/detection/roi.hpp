#pragma once

#include "detection/roi_bins.cuh"
#include "../convert.hpp"
#include "../dispatch_dtype.hpp"
#include "../vector.hpp"

// What is common to pooling and its gradient: channels in groups, and the upright bins of averages as sums of whole
// pixels.

namespace cuaug {

// Channels first .. last - 1, in whole groups but at the end.
struct Channels {
    int first, last;
};

inline Channels channels_of(const Pooling& args, int block, int blocks) {
    const long long groups = (args.channels + channel_group - 1) / channel_group;
    const long long first = channel_group * (groups * block / blocks),
                    last = channel_group * (groups * (block + 1) / blocks);
    return {static_cast<int>(first), static_cast<int>(last < args.channels ? last : args.channels)};
}

// Calls `work(channel, Count<W>)` for a group side by side at a time, and for one at a time of the rest or if they are
// apart.
template <class Work>
inline void in_groups(const Channels& channels, bool inside, const Work& work) {
    int c = channels.first;
    for (; inside && c + channel_group <= channels.last; c += channel_group) work(c, Int<channel_group>());
    for (; c < channels.last; ++c) work(c, Int<1>());
}

// The bins of one axis: bin i is made of the parts first[i] .. first[i + 1] - 1.
template <class R>
struct Bins {
    Vector<Part<R>> parts;
    Vector<long long> first;
    int low = 0x7fffffff, high = -1;  // of all pixels in them

    void add(int at, R weight) {
        if (weight == R(0)) return;
        for (long long i = parts.count(); i-- > first[first.count() - 1] && i + 2 >= parts.count();)
            if (parts[i].at == at) {
                parts[i].weight += weight;
                return;
            }
        parts.add({at, weight});
        low = at < low ? at : low;
        high = at > high ? at : high;
    }

    // The average of samples between two pixels each is a sum of pixels: its weights along y and x are multiplied.
    void fill(const RoiAxis<R>& axis, int bins, int extent) {
        parts.clear();
        first.clear();
        for (int bin = 0; bin < bins; ++bin) {
            first.add(parts.count());
            const Span range = samples_between(axis, bin, R(-1), R(extent));
            for (long long i = range.first; i < range.last; ++i) {
                const Tap<R> found = tap(sample_at(axis, bin, i), extent);
                if (!found.inside) continue;
                add(found.low, (R(1) - found.share) / axis.samples);
                add(found.high, found.share / axis.samples);
            }
        }
        first.add(parts.count());
    }
};

// The pixels that bins are made of along x, in one row: side by side if that wastes little, else each where it is.
template <class R>
struct Columns {
    Vector<long long> offset;
    bool dense = false;

    // Parts name a column of these from now on.
    void fill(Bins<R>& bins, long long stride) {
        offset.clear();
        const long long span = bins.high - bins.low + 1, count = bins.parts.count();
        dense = span <= (stride == 1 ? 4 : 1) * count;  // eight side by side take as long as two apart
        for (long long i = 0; i < (dense ? span : count); ++i)
            offset.add((dense ? bins.low + i : bins.parts[i].at) * stride);
        for (long long i = 0; i < count; ++i)
            bins.parts[i].at = dense ? bins.parts[i].at - bins.low : static_cast<int>(i);
        dense = dense && stride == 1 && count > 0;
    }
};

// An upright region, ready to be averaged.
template <class R>
struct Averages {
    Bins<R> down, across;
    Columns<R> columns;

    void fill(const Pooling& args, const Roi<R>& roi, const Maps& maps) {
        const PoolingLevel& level = args.level[roi.level];
        across.low = down.low = 0x7fffffff, across.high = down.high = -1;
        down.fill(roi.y, args.out_height, level.height);
        across.fill(roi.x, args.out_width, level.width);
        columns.fill(across, maps.x);
    }
};

}  // namespace cuaug
