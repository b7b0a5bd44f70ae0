#pragma once

#include "detection/roi_by_sample.cuh"

// The way back of what detection/roi_by_sample.cuh pools: sums are added to in memory, by whoever comes first.

namespace cuaug {

// Of neighbouring channels, `step` apart in the map, those up to `last`.
template <class R, int W>
inline void add_to_pixels(const Place<R>& place, const Maps& maps, R* to, int last, const R (&value)[W], R scale) {
    if (!place.y.inside || !place.x.inside) return;
    for (int corner = 0; corner < 4; ++corner) {
        const bool low_y = corner < 2, low_x = corner % 2 == 0;
        const R weight =
            (low_y ? R(1) - place.y.share : place.y.share) * (low_x ? R(1) - place.x.share : place.x.share);
        if (weight == R(0)) continue;
        R* pixel = to + (low_y ? place.y.low : place.y.high) * maps.y + (low_x ? place.x.low : place.x.high) * maps.x;
        for (int j = 0; j < W; ++j)
            if (j <= last) atomicAdd(pixel + j * maps.c, weight * scale * value[j]);
    }
}

// The bins of region k: a thread's items from `first` on, every `step`th, with the channels that it has as walk_region
// shares them out.
template <class T, bool greatest, bool inside, class Record, class Shape>
inline void add_region(const Record& args, const Shape& shape, long long k, long long first, long long step) {
    using R = ComputeType<T>;
    constexpr int W = inside ? 1 : planar_channels;
    if (shape.n < 0) return;
    const Maps &maps = shape.level->gradients, &pooled = args.pooled;
    const int bins = args.out_height * args.out_width, groups = (args.channels + W - 1) / W;
    for (long long item = first; item < static_cast<long long>(bins) * groups; item += step) {
        const int bin = static_cast<int>(inside ? item / groups : item % bins),
                  group = static_cast<int>(inside ? item % groups : item / bins);
        const int y = bin / args.out_width, x = bin % args.out_width, c = group * W,
                  last = min(W, args.channels - c) - 1;
        R* to = static_cast<R*>(maps.data) + shape.n * maps.n + c * maps.c;
        const T* from = static_cast<const T*>(pooled.data) + k * pooled.n + c * pooled.c + y * pooled.y + x * pooled.x;
        R value[W];
        for (int j = 0; j < W; ++j) value[j] = to_compute<R>(from[min(j, last) * pooled.c]);
        if constexpr (greatest) {
            long long number[W];
            read_places(args, k * args.places.n + c * args.places.c + y * args.places.y + x * args.places.x, last,
                        number);
            for (int j = 0; j < W; ++j) {
                if (number[j] < 0) continue;
                const R one[1] = {value[j]};
                add_to_pixels(shape.place(args, y, x, row_of(number[j]), column_of(number[j])), maps, to + j * maps.c,
                              0, one, R(1));
            }
        } else {
            const Spans spans = shape.spans(args, y, x);
            for (long long i = spans.rows.first; i < spans.rows.last; ++i)
                for (long long j = spans.columns.first; j < spans.columns.last; ++j)
                    add_to_pixels(shape.place(args, y, x, i, j), maps, to, last, value, R(1) / shape.count);
        }
    }
}

}  // namespace cuaug
