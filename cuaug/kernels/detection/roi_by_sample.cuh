#pragma once

#include "detection/roi_bins.cuh"
#include "gpu/convert.cuh"

// Bins pooled sample by sample, each by one thread for a few channels, which share the work of finding a sample.

namespace cuaug {

enum class Take { average, greatest, place };  // place: the greatest, and which sample of its bin that is

constexpr int planar_channels = 8;  // a thread's, where they lie apart

// Wide: how many channels lie side by side and are read as one vector; 0: they lie apart.
template <int wide>
constexpr int channels_of_thread = wide == 0 ? planar_channels : wide;

template <class T, int W>
struct alignas(W * sizeof(T)) Adjacent {
    T of[W];
};

// W channels, of which those after the last repeat it.
template <int wide, class T, class R>
inline void read_channels(const T* in, long long step, int last, R* value) {
    constexpr int W = channels_of_thread<wide>;
    if constexpr (wide > 0) {
        const Adjacent<T, W> found = *reinterpret_cast<const Adjacent<T, W>*>(in);
        for (int j = 0; j < W; ++j) value[j] = to_compute<R>(found.of[j]);
    } else {
        for (int j = 0; j < W; ++j) value[j] = to_compute<R>(in[min(j, last) * step]);
    }
}

template <int wide, class T, class R>
inline void write_channels(T* out, long long step, int last, const R* value) {
    constexpr int W = channels_of_thread<wide>;
    if constexpr (wide > 0) {
        Adjacent<T, W> made;
        for (int j = 0; j < W; ++j) made.of[j] = saturate_cast<T>(value[j]);
        *reinterpret_cast<Adjacent<T, W>*>(out) = made;
    } else {
        for (int j = 0; j < W; ++j)
            if (j <= last) out[j * step] = saturate_cast<T>(value[j]);
    }
}

// Pixels of no weight are left out: an infinite one next to a sample does not make it NaN.
template <int wide, class T, class R>
inline void add_pixels(const Place<R>& place, const T* in, const Maps& maps, int last, R* value) {
    constexpr int W = channels_of_thread<wide>;
    if (!place.y.inside || !place.x.inside) return;
    for (int corner = 0; corner < 4; ++corner) {
        const bool low_y = corner < 2, low_x = corner % 2 == 0;
        const R weight =
            (low_y ? R(1) - place.y.share : place.y.share) * (low_x ? R(1) - place.x.share : place.x.share);
        if (weight == R(0)) continue;
        R pixel[W];
        read_channels<wide>(
            in + (low_y ? place.y.low : place.y.high) * maps.y + (low_x ? place.x.low : place.x.high) * maps.x, maps.c,
            last, pixel);
        for (int j = 0; j < W; ++j) value[j] += weight * pixel[j];
    }
}

// The shape of a block's region: one thread works it out for all.
template <class Shape>
inline const Shape& shared_shape(const Pooling& args, long long k) {
    __shared__ Shape shape;
    if (threadIdx.x == 0) shape = Shape(args, k);
    __syncthreads();
    return shape;
}

// A sample's number in its bin.
inline long long sample_number(long long i, long long j) { return i << 32 | j; }
inline long long row_of(long long number) { return number >> 32; }
inline long long column_of(long long number) { return number & 0xffffffffll; }

// Such numbers of neighbouring channels in memory, of those up to `last`.
template <int W>
inline void write_places(const PoolingPlaces& args, long long at, int last, const long long (&number)[W]) {
    if (args.short_places) {
        int* to = static_cast<int*>(args.places.data) + at;
        for (int j = 0; j < W; ++j)
            if (j <= last)
                to[j * args.places.c] =
                    number[j] < 0 ? -1 : static_cast<int>(row_of(number[j]) << 16 | column_of(number[j]));
    } else {
        long long* to = static_cast<long long*>(args.places.data) + at;
        for (int j = 0; j < W; ++j)
            if (j <= last) to[j * args.places.c] = number[j];
    }
}

template <int W>
inline void read_places(const PoolingPlaces& args, long long at, int last, long long (&number)[W]) {
    if (args.short_places) {
        const int* from = static_cast<const int*>(args.places.data) + at;
        int found[W];
        for (int j = 0; j < W; ++j) found[j] = j <= last ? from[j * args.places.c] : -1;
        for (int j = 0; j < W; ++j) number[j] = found[j] < 0 ? -1 : sample_number(found[j] >> 16, found[j] & 0xffff);
    } else {
        const long long* from = static_cast<const long long*>(args.places.data) + at;
        for (int j = 0; j < W; ++j) number[j] = j <= last ? from[j * args.places.c] : -1;
    }
}

// One bin of W channels.
template <Take take, int wide, class T, class R, class Shape>
inline void walk_bin(const Pooling& args, const Shape& shape, int y, int x, const T* in, const Maps& maps, int last,
                     R* value, long long* chosen) {
    constexpr int W = channels_of_thread<wide>;
    for (int j = 0; j < W; ++j) value[j] = 0;
    if (shape.n < 0) return;
    const Spans spans = shape.spans(args, y, x);
    bool started = false;
    for (long long a = spans.rows.first; a < spans.rows.last; ++a)
        for (long long b = spans.columns.first; b < spans.columns.last; ++b) {
            const Place<R> place = shape.place(args, y, x, a, b);
            if constexpr (take == Take::average) {
                add_pixels<wide>(place, in, maps, last, value);
            } else {
                R one[W] = {};
                add_pixels<wide>(place, in, maps, last, one);
                for (int j = 0; j < W; ++j)
                    if (!started || beats(one[j], value[j])) {
                        value[j] = one[j];
                        if constexpr (take == Take::place) chosen[j] = sample_number(a, b);
                    }
                started = true;
            }
        }
    if constexpr (take == Take::average) {
        for (int j = 0; j < W; ++j) value[j] /= shape.count;
    } else if (shape.others(spans)) {
        for (int j = 0; j < W; ++j)
            if (beats(R(0), value[j])) {
                value[j] = 0;
                if constexpr (take == Take::place) chosen[j] = -1;
            }
    }
}

// The bins of region k: a thread's items from `first` on, every `step`th. Threads side by side have bins side by side,
// or channels that are.
template <class T, Take take, int wide, class Record, class Shape>
inline void walk_region(const Record& args, const Shape& shape, long long k, long long first, long long step) {
    using R = ComputeType<T>;
    constexpr int W = channels_of_thread<wide>;
    const Maps& maps = shape.level->values;
    const int bins = args.out_height * args.out_width, groups = (args.channels + W - 1) / W;
    for (long long item = first; item < static_cast<long long>(bins) * groups; item += step) {
        const int bin = static_cast<int>(wide > 0 ? item / groups : item % bins),
                  group = static_cast<int>(wide > 0 ? item % groups : item / bins);
        const int y = bin / args.out_width, x = bin % args.out_width, c = group * W,
                  last = min(W, args.channels - c) - 1;
        const T* in = static_cast<const T*>(maps.data) + shape.n * maps.n + c * maps.c;
        const long long to = k * args.pooled.n + c * args.pooled.c + y * args.pooled.y + x * args.pooled.x;
        R value[W];
        if constexpr (take == Take::place) {
            long long chosen[W];
            for (int j = 0; j < W; ++j) chosen[j] = -1;
            walk_bin<take, wide>(args, shape, y, x, in, maps, last, value, chosen);
            write_places(args, k * args.places.n + c * args.places.c + y * args.places.y + x * args.places.x, last,
                         chosen);
        } else {
            walk_bin<take, wide>(args, shape, y, x, in, maps, last, value, nullptr);
        }
        write_channels<wide>(static_cast<T*>(args.pooled.data) + to, args.pooled.c, last, value);
    }
}

}  // namespace cuaug
