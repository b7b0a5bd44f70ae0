#pragma once

#include "detection/rotated_box.cuh"
#include "records/roi.cuh"

// Regions along one axis: bins, samples, and the pixels that a sample is interpolated from. R is the type of the
// arithmetic, as in torchvision: float, or double for float64 features.

namespace cuaug {

// A region along one axis: adjacent bins with equally spaced samples.
template <class R>
struct RoiAxis {
    R start, bin_size;
    R samples;  // of a bin: an integer, possibly beyond the range of any integer type; below 1: none
};

// The two pixels that a sample lies between, along one axis.
template <class R>
struct Tap {
    int low, high;
    R high_weight;
    bool is_inside;
};

// torchvision's rule: up to a pixel outside the outermost centers the outermost pixel counts; farther outside all is 0.
template <class R>
inline Tap<R> make_tap(R coordinate, int extent) {
    if (!(coordinate >= R(-1) && coordinate <= R(extent))) return {0, 0, R(0), false};
    const R clamped = coordinate > R(0) ? coordinate : R(0);
    const int low = static_cast<int>(clamped);
    if (low >= extent - 1) return {extent - 1, extent - 1, R(0), true};
    return {low, low + 1, clamped - R(low), true};
}

// The weight of a pixel in a sample.
template <class R>
inline R tap_weight(const Tap<R>& tap, int pixel) {
    return tap.is_inside
               ? (tap.low == pixel ? R(1) - tap.high_weight : R(0)) + (tap.high == pixel ? tap.high_weight : R(0))
               : R(0);
}

template <class R>
struct SampleTaps {
    Tap<R> y, x;
};

// Indices first .. last - 1.
struct IndexRange {
    long long first, last;
};

struct IndexRect {
    IndexRange rows, columns;
};

// A rectangle of a map: rows top .. bottom, columns left .. right.
template <class R>
struct MapRect {
    R top, left, bottom, right;
};

// A pixel along one axis, and its weight in a bin.
template <class R>
struct PixelWeight {
    int pixel;
    R weight;
};

template <class R>
inline R sample_coordinate(const RoiAxis<R>& axis, int bin, long long i) {
    return axis.start + R(bin) * axis.bin_size + (R(i) + R(0.5)) * axis.bin_size / axis.samples;
}

// The samples of a bin that may lie between two coordinates: all that do, and a few more. Loops over them end even for
// a region far larger than the image.
template <class R>
inline IndexRange samples_between(const RoiAxis<R>& axis, int bin, R low, R high) {
    const double samples = axis.samples, step = axis.bin_size / samples;
    if (!(samples >= 1)) return {0, 0};
    if (!(step > 0)) return {0, static_cast<long long>(samples)};
    const double start = axis.start + static_cast<double>(bin) * axis.bin_size + step / 2;
    const double first = floor((low - start) / step) - 1, last = ceil((high - start) / step) + 2;
    return {static_cast<long long>(fmin(fmax(first, 0.0), samples)),
            static_cast<long long>(fmin(fmax(last, 0.0), samples))};
}

// The bins that may have samples between two coordinates.
template <class R>
inline IndexRange bins_between(const RoiAxis<R>& axis, R low, R high, int bins) {
    if (!(axis.bin_size > R(0))) return {0, bins};
    const double start = axis.start, bin_size = axis.bin_size;
    const double first = floor((low - start) / bin_size) - 1, last = ceil((high - start) / bin_size) + 1;
    return {static_cast<long long>(fmin(fmax(first, 0.0), static_cast<double>(bins))),
            static_cast<long long>(fmin(fmax(last, 0.0), static_cast<double>(bins)))};
}

template <class R>
inline RoiAxis<R> make_axis(R start, R size, int bins, int sampling_ratio) {
    return {start, size / R(bins), sampling_ratio > 0 ? R(sampling_ratio) : ceil(size / R(bins))};
}

// A pixel of a map, or the map's end.
template <class R>
inline int clamp_to_pixel(R value, int extent) {
    return static_cast<int>(fmin(fmax(value, R(0)), static_cast<R>(extent)));
}

// Whether a value replaces the maximum so far: of equal values the first stays, and so does NaN.
template <class R>
inline bool replaces_max(R value, R max) {
    return value > max || (value != value && max == max);
}

inline double roi_value(const RoiRecord& args, long long k, int i) {
    return read_number(args.rois, k * args.rois.k_stride + i * args.rois.x_stride);
}

// The sample that a region belongs to; -1: none.
inline int roi_sample(const RoiRecord& args, long long k) {
    const double index = roi_value(args, k, 0);
    return index >= 0 && index < args.samples ? static_cast<int>(index) : -1;
}

// The last level whose minimum area the region has (Lin et al. 2017, equation 1).
inline int roi_level(const RoiRecord& args, long long k) {
    const double a = roi_value(args, k, 1), b = roi_value(args, k, 2), c = roi_value(args, k, 3),
                 d = roi_value(args, k, 4);
    const double area = args.rotated ? c * d : (c - a) * (d - b);
    int level = 0;
    while (level + 1 < args.levels && area >= args.level[level + 1].min_area) ++level;
    return level;
}

inline bool is_in_range(double coordinate) { return coordinate > -0x1p30 && coordinate < 0x1p30; }

// A value interpolated from up to four pixels of a map. Pixels of weight 0 are left out: 0 times infinity is NaN.
template <class R>
struct RoiSample {
    int taps;  // 0: outside the image, where all is 0
    long long offset[4];
    R weight[4];
};

template <class R>
inline void add_tap(RoiSample<R>& sample, long long offset, R weight) {
    if (weight == R(0)) return;
    sample.offset[sample.taps] = offset, sample.weight[sample.taps] = weight;
    ++sample.taps;
}

template <class R>
inline RoiSample<R> make_sample(const Tap<R>& y, const Tap<R>& x, const FeatureMap& map) {
    RoiSample<R> sample = {};
    if (!(y.is_inside && x.is_inside)) return sample;
    add_tap(sample, y.low * map.y_stride + x.low * map.x_stride, (R(1) - y.high_weight) * (R(1) - x.high_weight));
    add_tap(sample, y.low * map.y_stride + x.high * map.x_stride, (R(1) - y.high_weight) * x.high_weight);
    add_tap(sample, y.high * map.y_stride + x.low * map.x_stride, y.high_weight * (R(1) - x.high_weight));
    add_tap(sample, y.high * map.y_stride + x.high * map.x_stride, y.high_weight * x.high_weight);
    return sample;
}

}  // namespace cuaug
