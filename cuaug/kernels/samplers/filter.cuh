#pragma once

#include "type_list.cuh"

// Separable resize: filters, and the source pixels of an output pixel. Bounds and normalisation are Pillow's
// (Resample.c), which torch's antialiased interpolation follows.

namespace cuaug {

// A filter gives the weight of a source pixel whose centre is `t` from the centre of the output pixel. The unit of `t`
// is `width` source pixels with antialias, and one source pixel without; `inv_width` is a source pixel in that unit.
// `reach`, in source pixels, bounds the distance between the two centres for source pixels with a weight.

// A kernel of fixed shape: an enlargement interpolates between pixels, a reduction by `scale` widens the kernel.
template <int Radius>
struct KernelFilter {
    static constexpr int radius = Radius;

    static double width(double scale) { return scale > 1.0 ? scale : 1.0; }
    static double reach(double width) { return Radius * width; }
};

struct Triangle : KernelFilter<1> {
    template <class R>
    static R weight(R t, R) {
        const R rest = R(1) - fabs(t);
        return rest > R(0) ? rest : R(0);
    }
};

// Keys 1981: a = -0.5 (Catmull-Rom) is Pillow's BICUBIC and torch's bicubic with antialias, a = -0.75 is torch's
// without antialias and OpenCV's.
template <int Hundredths>
struct CubicFilter : KernelFilter<2> {
    template <class R>
    static R weight(R t, R) {
        const R a = R(Hundredths) / R(100), x = fabs(t);
        if (x < R(1)) return ((a + R(2)) * x - (a + R(3))) * x * x + R(1);
        if (x < R(2)) return ((a * x - R(5) * a) * x + R(8) * a) * x - R(4) * a;
        return R(0);
    }
};

struct CatmullRom : CubicFilter<-50> {};
struct Cubic75 : CubicFilter<-75> {};

// sinc(t) sinc(t / Radius): 3 is Pillow's LANCZOS, 4 OpenCV's INTER_LANCZOS4.
template <int Radius>
struct LanczosFilter : KernelFilter<Radius> {
    template <class R>
    static R weight(R t, R) {
        const R pi = R(3.14159265358979323846), x = fabs(t) * pi;
        if (x >= R(Radius) * pi) return R(0);
        if (x < R(1e-4)) return R(1);
        return R(Radius) * sin(x) * sin(x / R(Radius)) / (x * x);
    }
};

struct Lanczos3 : LanczosFilter<3> {};
struct Lanczos4 : LanczosFilter<4> {};

// The average over the output pixel, as OpenCV's INTER_AREA: the weight is the share of the output pixel that the
// source pixel covers, the overlap of two intervals of lengths 1 and `inv_width`. Used with antialias only.
struct Area : KernelFilter<1> {
    static double width(double scale) { return scale > 1e-30 ? scale : 1e-30; }  // `inv_width` is finite in float
    // Leaves out source pixels that overlap only by a rounding error: a weight of 0 would not hide infinity and NaN.
    static double reach(double width) { return 0.5 + (0.5 - 1e-9) * width; }

    // The sum of weights is not 0: the pixel under the centre has at least half of the largest weight, as its |t| is at
    // most `inv_width` / 2, even when rounded.
    template <class R>
    static R weight(R t, R inv_width) {
        const R overlap = R(0.5) + (R(0.5) * inv_width - fabs(t)), most = inv_width < R(1) ? inv_width : R(1);
        return overlap < most ? (overlap > R(0) ? overlap : R(0)) : most;
    }
};

// The source pixels of one output pixel on one axis: `count` taps from `first` on, each clamped to [low, high). The
// weight of tap i is Filter::weight((offset + i) * inv_width, inv_width) * inv_sum.
template <class R>
struct Taps {
    int first, count, low, high;
    R offset, inv_width, inv_sum;

    int clamped_pixel(int i) const {
        const int last = high - 1, pixel = first + i < last ? first + i : last;
        return pixel > low ? pixel : low;
    }

    // The taps whose pixels lie in [from, to): from begin_in(from) to end_in(to).
    int begin_in(int from) const { return from <= low || from <= first ? 0 : from - first; }
    int end_in(int to) const { return to >= high || to - first >= count ? count : to - first; }
};

template <class Filter, class R>
inline R weight(const Taps<R>& taps, int i) {
    return Filter::template weight<R>((taps.offset + static_cast<R>(i)) * taps.inv_width, taps.inv_width) *
           taps.inv_sum;
}

// How many pixels a box may reach beyond the image: this bounds the work that a sample can ask for.
constexpr double max_outside = 65536.0;

// The taps of output pixel `index` of `size`; the output covers [start, start + extent) of an image of `length` pixels.
// There are no taps if the box is not finite, is empty, or reaches too far beyond the image. The weights are not
// normalised.
template <class Filter, class R>
inline Taps<R> unnormalized_taps(double start, double extent, int length, int size, int index, bool antialias) {
    if (!(start >= -max_outside && extent > 0.0 && start + extent <= length + max_outside))
        return {0, 0, 0, 1, R(0), R(0), R(0)};
    const double scale = extent / size, width = antialias ? Filter::width(scale) : 1.0,
                 centre = start + (index + 0.5) * scale;
    const int low = static_cast<int>(floor(start)), end = static_cast<int>(ceil(start + extent)),
              high = end > low ? end : low + 1;
    if (extent == size && start == floor(start))  // pixels are copied: a weight of 0 would not hide infinity and NaN
        return {static_cast<int>(start) + index, 1, low, high, R(0), R(1), R(1)};
    Taps<R> taps = {0, 0, low, high, R(0), R(1) / static_cast<R>(width), R(1)};
    if (antialias) {
        // Compared as double: `to` may exceed an int.
        const double reach = Filter::reach(width), from = floor(centre - reach + 0.5), to = floor(centre + reach + 0.5);
        // Rounding may move the first tap of a small box beyond the end of the box.
        taps.first = from < low ? low : from < high ? static_cast<int>(from) : high - 1;
        taps.count = (to < high ? static_cast<int>(to) : high) - taps.first;
    } else {
        taps.first = static_cast<int>(floor(centre - 0.5)) - (Filter::radius - 1);
        taps.count = 2 * Filter::radius;
    }
    taps.offset = static_cast<R>(taps.first + 0.5 - centre);
    return taps;
}

template <class Filter, class R>
inline Taps<R> taps_of(double start, double extent, int length, int size, int index, bool antialias) {
    Taps<R> taps = unnormalized_taps<Filter, R>(start, extent, length, size, index, antialias);
    R sum = R(0);
    for (int i = 0; i < taps.count; ++i) sum += weight<Filter>(taps, i);
    taps.inv_sum = R(1) / sum;
    return taps;
}

// The taps merged by image pixel: `count` pixels from `first`. A pixel's weight is the sum of all taps clamped to it.
template <class R>
struct SourceSpan {
    int first, count;
    R outside;  // the weight of the taps outside the image
    Taps<R> taps;
};

template <class Filter, class R>
inline SourceSpan<R> source_span(double start, double extent, int length, int size, int index, bool antialias) {
    SourceSpan<R> span = {0, 0, R(1), unnormalized_taps<Filter, R>(start, extent, length, size, index, antialias)};
    if (span.taps.count < 1) return span;
    R sum = R(0), outside = R(0);
    for (int i = 0; i < span.taps.count; ++i) {
        const R factor = weight<Filter>(span.taps, i);
        const int pixel = span.taps.clamped_pixel(i);
        sum += factor;
        if (pixel < 0 || pixel >= length) outside += factor;
    }
    const int first = span.taps.clamped_pixel(0), end = span.taps.clamped_pixel(span.taps.count - 1) + 1;
    span.first = first > 0 ? first : 0;
    span.count = (end < length ? end : length) - span.first;
    span.taps.inv_sum = R(1) / sum;
    span.outside = outside * span.taps.inv_sum;
    return span;
}

// The weight of pixel `first + i`; 0 if that is not one of the span's.
template <class Filter, class R>
inline R pixel_weight(const SourceSpan<R>& span, int i) {
    R sum = R(0);
    if (i < 0 || i >= span.count) return sum;
    const int end = span.taps.end_in(span.first + i + 1);
    for (int tap = span.taps.begin_in(span.first + i); tap < end; ++tap) sum += weight<Filter>(span.taps, tap);
    return sum;
}

using Filters = TypeList<Triangle, CatmullRom, Lanczos3, Cubic75, Lanczos4, Area>;

}  // namespace cuaug
