#pragma once

#include "records/roi.cuh"

// Regions of interest: their sample and level, their bins and sampling points along an axis, and the pixels that a
// point is interpolated from. R is the type of the arithmetic, as in torchvision: float, or double for float64
// features.

namespace cuaug {

// A region along one axis: adjacent bins with equally spaced sampling points.
template <class R>
struct RoiAxis {
    R start, bin_size;
    R points;  // of a bin: an integer, possibly beyond the range of any integer type; below 1: none
};

// The two pixels that a sampling point lies between, along one axis.
template <class R>
struct Tap {
    int low, high;
    R high_weight;
    bool is_inside;
};

// torchvision's rule: a coordinate up to one pixel beyond the center of an outermost pixel takes this pixel's value;
// farther outside, the value is 0.
template <class R>
inline Tap<R> make_tap(R coordinate, int extent) {
    if (!(coordinate >= R(-1) && coordinate <= R(extent))) return {0, 0, R(0), false};
    const R clamped = coordinate > R(0) ? coordinate : R(0);
    const int low = static_cast<int>(clamped);
    if (low >= extent - 1) return {extent - 1, extent - 1, R(0), true};
    return {low, low + 1, clamped - R(low), true};
}

// The weight of a pixel in a sampling point's value.
template <class R>
inline R tap_weight(const Tap<R>& tap, int pixel) {
    return tap.is_inside
               ? (tap.low == pixel ? R(1) - tap.high_weight : R(0)) + (tap.high == pixel ? tap.high_weight : R(0))
               : R(0);
}

template <class R>
struct PointTaps {
    Tap<R> y, x;
};

// Calls `visit(offset, weight)` for the pixels of a map that a sampling point is interpolated from, up to four. Pixels
// of weight 0 are left out: 0 times infinity is NaN. A point outside the map has none.
template <class R, class Visitor>
inline void for_each_corner(const PointTaps<R>& taps, const FeatureMap& map, const Visitor& visit) {
    if (!taps.y.is_inside || !taps.x.is_inside) return;
    for (int corner = 0; corner < 4; ++corner) {
        const bool low_y = corner < 2, low_x = corner % 2 == 0;
        const R weight = (low_y ? R(1) - taps.y.high_weight : taps.y.high_weight) *
                         (low_x ? R(1) - taps.x.high_weight : taps.x.high_weight);
        if (weight == R(0)) continue;
        visit((low_y ? taps.y.low : taps.y.high) * map.y_stride + (low_x ? taps.x.low : taps.x.high) * map.x_stride,
              weight);
    }
}

// Indices first .. end - 1.
struct IndexRange {
    long long first, end;
};

struct IndexRect {
    IndexRange rows, columns;
};

// A rectangle of a map, or along a region's own axes: rows top .. bottom, columns left .. right.
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
inline R point_coordinate(const RoiAxis<R>& axis, int bin, long long i) {
    return axis.start + R(bin) * axis.bin_size + (R(i) + R(0.5)) * axis.bin_size / axis.points;
}

// A bound on the rounding error of `point_coordinate` for points between `low` and `high`. A bin may be smaller than
// the error: sampling points of several bins of a narrow region then have the same coordinate.
template <class R>
inline R max_rounding(const RoiAxis<R>& axis, R low, R high) {
    constexpr R epsilon = sizeof(R) == 4 ? R(0x1p-23) : R(0x1p-52);
    return R(4) * epsilon * (fabs(axis.start) + fmax(fabs(low), fabs(high)));
}

// The sampling points of a bin that may lie between two coordinates: all that do, and a few more. Loops over them end
// even for a region far larger than the image.
template <class R>
inline IndexRange points_between(const RoiAxis<R>& axis, int bin, R low, R high) {
    const double points = axis.points, step = axis.bin_size / points;
    if (!(points >= 1)) return {0, 0};
    if (!(step > 0)) return {0, static_cast<long long>(points)};
    const double start = axis.start + static_cast<double>(bin) * axis.bin_size + step / 2;
    const R rounding = max_rounding(axis, low, high);
    const double first = floor(((low - rounding) - start) / step) - 1,
                 end = ceil(((high + rounding) - start) / step) + 2;
    return {static_cast<long long>(fmin(fmax(first, 0.0), points)),
            static_cast<long long>(fmin(fmax(end, 0.0), points))};
}

// The bins that may have sampling points between two coordinates.
template <class R>
inline IndexRange bins_between(const RoiAxis<R>& axis, R low, R high, int bins) {
    if (!(axis.bin_size > R(0))) return {0, bins};
    const double start = axis.start, bin_size = axis.bin_size;
    const R rounding = max_rounding(axis, low, high);
    const double first = floor(((low - rounding) - start) / bin_size) - 1,
                 end = ceil(((high + rounding) - start) / bin_size) + 1;
    return {static_cast<long long>(fmin(fmax(first, 0.0), static_cast<double>(bins))),
            static_cast<long long>(fmin(fmax(end, 0.0), static_cast<double>(bins)))};
}

template <class R>
inline RoiAxis<R> make_axis(R start, R size, int bins, int sampling_ratio) {
    return {start, size / R(bins), sampling_ratio > 0 ? R(sampling_ratio) : ceil(size / R(bins))};
}

// A coordinate cut to 0 .. extent, without its fraction; a NaN becomes 0. R(extent) may be rounded up: float does not
// hold every integer above 2^24.
template <class R>
inline int clamp_to_pixel(R value, int extent) {
    const int rounded = static_cast<int>(fmin(fmax(value, R(0)), static_cast<R>(extent)));
    return rounded < extent ? rounded : extent;
}

// Whether a value replaces the maximum so far: of equal values the first stays, and so does NaN.
template <class R>
inline bool replaces_max(R value, R max) {
    return value > max || (value != value && max == max);
}

inline double roi_value(const RoiRecord& args, long long k, int i) {
    return read_number(args.rois, k * args.rois.k_stride + i * args.rois.x_stride);
}

// The sample that a region belongs to; -1: none. No sample has an index with a fraction.
inline int roi_sample(const RoiRecord& args, long long k) {
    const double index = roi_value(args, k, 0);
    return index >= 0 && index < args.samples && index == floor(index) ? static_cast<int>(index) : -1;
}

// The last level whose minimum area the region reaches (Lin et al. 2017, equation 1).
inline int roi_level(const RoiRecord& args, long long k) {
    const double a = roi_value(args, k, 1), b = roi_value(args, k, 2), c = roi_value(args, k, 3),
                 d = roi_value(args, k, 4);
    const double area = args.rotated ? c * d : (c - a) * (d - b);
    int level = 0;
    while (level + 1 < args.levels && area >= args.level[level + 1].min_area) ++level;
    return level;
}

inline bool is_in_range(double coordinate) { return coordinate > -0x1p30 && coordinate < 0x1p30; }

// A sampling point: the pixels of a map that its value is interpolated from, without those of weight 0.
template <class R>
struct RoiPoint {
    int pixels;  // 0: the point is outside the map, where all is 0
    long long offset[4];
    R weight[4];
};

template <class R>
inline RoiPoint<R> make_point(const PointTaps<R>& taps, const FeatureMap& map) {
    RoiPoint<R> point = {};
    for_each_corner(taps, map, [&](long long offset, R weight) {
        point.offset[point.pixels] = offset, point.weight[point.pixels] = weight;
        ++point.pixels;
    });
    return point;
}

}  // namespace cuaug
