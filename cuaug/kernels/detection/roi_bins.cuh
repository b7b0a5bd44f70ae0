#pragma once

#include "records/roi.cuh"
#include "detection/rotated_box.cuh"

// Where the bins of a region lie, and which pixels they are made of. R is the type of the arithmetic, as of
// torchvision's: float, or double for float64 features.

namespace cuaug {

// A region along one axis: bins side by side, with samples at equal distances in each.
template <class R>
struct RoiAxis {
    R start, bin;
    R samples;  // a whole number, if need be beyond any integer; below 1: none
};

template <class R>
struct Roi {
    int n;  // sample; -1: none, and all of it is 0
    int level;
    RoiAxis<R> y, x;  // in pixels of the level; of a rotated one from its centre, along its own axes
    R centre_y, centre_x, cosine, sine;
};

// Pixels between which a sample lies, along one axis.
template <class R>
struct Tap {
    int low, high;
    R share;  // of `high`
    bool inside;
};

// torchvision's rule: up to a pixel beyond the outermost centres the outermost pixel counts, farther out there is
// nothing.
template <class R>
inline Tap<R> tap(R at, int extent) {
    if (!(at >= R(-1) && at <= R(extent))) return {0, 0, R(0), false};
    const R held = at > R(0) ? at : R(0);
    const int low = static_cast<int>(held);
    if (low >= extent - 1) return {extent - 1, extent - 1, R(0), true};
    return {low, low + 1, held - R(low), true};
}

template <class R>
inline R sample_at(const RoiAxis<R>& axis, int bin, long long i) {
    return axis.start + R(bin) * axis.bin + (R(i) + R(0.5)) * axis.bin / axis.samples;
}

// Samples first .. last - 1 of a bin: at least those between two coordinates, so that a region far larger than the
// image ends.
struct Span {
    long long first, last;
};

template <class R>
inline Span samples_between(const RoiAxis<R>& axis, int bin, R low, R high) {
    const double samples = axis.samples, step = axis.bin / samples;
    if (!(samples >= 1)) return {0, 0};
    if (!(step > 0)) return {0, static_cast<long long>(samples)};
    const double start = axis.start + static_cast<double>(bin) * axis.bin + step / 2;
    const double first = floor((low - start) / step) - 1, last = ceil((high - start) / step) + 2;
    return {static_cast<long long>(fmin(fmax(first, 0.0), samples)),
            static_cast<long long>(fmin(fmax(last, 0.0), samples))};
}

template <class R>
inline RoiAxis<R> roi_axis(R start, R size, int bins, int sampling) {
    return {start, size / R(bins), sampling > 0 ? R(sampling) : ceil(size / R(bins))};
}

inline double roi_number(const Pooling& args, long long k, int i) {
    return read_number(args.rois, k * args.rois.k + i * args.rois.x);
}

// The sample a region belongs to; -1: none.
inline int roi_sample(const Pooling& args, long long k) {
    const double index = roi_number(args, k, 0);
    return index >= 0 && index < args.samples ? static_cast<int>(index) : -1;
}

// The last level whose least area the region has (Lin et al. 2017, equation 1).
inline int roi_level(const Pooling& args, long long k) {
    const double a = roi_number(args, k, 1), b = roi_number(args, k, 2), c = roi_number(args, k, 3),
                 d = roi_number(args, k, 4);
    const double area = args.rotated ? c * d : (c - a) * (d - b);
    int level = 0;
    while (level + 1 < args.levels && area >= args.level[level + 1].least_area) ++level;
    return level;
}

inline bool within_reach(double value) { return value > -0x1p30 && value < 0x1p30; }

// A region as roi_align sees it. One that reaches beyond 2^30 pixels, or is not a number, is none.
template <class R>
inline Roi<R> read_roi(const Pooling& args, long long k) {
    Roi<R> roi = {roi_sample(args, k), roi_level(args, k), {}, {}, 0, 0, 1, 0};
    const R scale = static_cast<R>(args.level[roi.level].scale), shift = args.aligned ? R(0.5) : R(0);
    R side[4];
    for (int i = 0; i < 4; ++i) {
        const R given = static_cast<R>(roi_number(args, k, 1 + i));
        side[i] = args.rotated && i > 1 ? given * scale : given * scale - shift;
        if (!within_reach(side[i])) roi.n = -1;
    }
    R width = args.rotated ? side[2] : side[2] - side[0], height = args.rotated ? side[3] : side[3] - side[1];
    if (!args.aligned) width = width > R(1) ? width : R(1), height = height > R(1) ? height : R(1);
    if (args.rotated) {
        const double degrees = roi_number(args, k, 5);
        const Rotation rotation = make_rotation(degrees);
        if (!within_reach(degrees)) roi.n = -1;
        roi.centre_x = side[0], roi.centre_y = side[1], roi.cosine = static_cast<R>(rotation.cosine),
        roi.sine = static_cast<R>(rotation.sine);
        side[0] = -width / R(2), side[1] = -height / R(2);
    }
    roi.x = roi_axis(side[0], width, args.out_width, args.sampling);
    roi.y = roi_axis(side[1], height, args.out_height, args.sampling);
    return roi;
}

// A value between up to four pixels. Those of no weight are left out: an infinite one next to a sample does not make it
// NaN.
template <class R>
struct RoiSample {
    int taps;  // 0: outside of the image, where all is 0
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
inline RoiSample<R> sample_of(const Tap<R>& y, const Tap<R>& x, const Maps& maps) {
    RoiSample<R> sample = {};
    if (!(y.inside && x.inside)) return sample;
    add_tap(sample, y.low * maps.y + x.low * maps.x, (R(1) - y.share) * (R(1) - x.share));
    add_tap(sample, y.low * maps.y + x.high * maps.x, (R(1) - y.share) * x.share);
    add_tap(sample, y.high * maps.y + x.low * maps.x, y.share * (R(1) - x.share));
    add_tap(sample, y.high * maps.y + x.high * maps.x, y.share * x.share);
    return sample;
}

// A pixel along one axis, and its weight in a bin.
template <class R>
struct Part {
    int at;
    R weight;
};

// Rows and columns of a bin's samples, counted in the bin; of whole pixels, those of the map.
struct Spans {
    Span rows, columns;
};

// Where a sample lies, along each axis.
template <class R>
struct Place {
    Tap<R> y, x;
};

// What a bin takes of a pixel: nothing of most.
template <class R>
inline R share_of(const Tap<R>& tap, int pixel) {
    return tap.inside ? (tap.low == pixel ? R(1) - tap.share : R(0)) + (tap.high == pixel ? tap.share : R(0)) : R(0);
}

// Bins that may have samples between two coordinates.
template <class R>
inline Span bins_between(const RoiAxis<R>& axis, R low, R high, int bins) {
    if (!(axis.bin > R(0))) return {0, bins};
    const double start = axis.start, bin = axis.bin;
    const double first = floor((low - start) / bin) - 1, last = ceil((high - start) / bin) + 1;
    return {static_cast<long long>(fmin(fmax(first, 0.0), static_cast<double>(bins))),
            static_cast<long long>(fmin(fmax(last, 0.0), static_cast<double>(bins)))};
}

// Whether a value takes the place of the greatest so far: of equal ones the first stays, and so does NaN.
template <class R>
inline bool beats(R value, R best) {
    return value > best || (value != value && best == best);
}

// A pixel within a map, or its end.
template <class R>
inline int pixel_at(R value, int extent) {
    return static_cast<int>(fmin(fmax(value, R(0)), static_cast<R>(extent)));
}

// Part of a map: rows top .. bottom, columns left .. right, or less.
template <class R>
struct Extent {
    R top, left, bottom, right;
};

// The bins of roi_align: `visit(sample)` for each sample that may lie in the image; the result says whether there are
// others.
template <class R>
struct SampledBins {
    Roi<R> roi;
    const PoolingLevel* level;
    int n;
    R count;  // of a bin's samples, at least 1

    SampledBins() = default;

    SampledBins(const Pooling& args, long long k)
        : roi(read_roi<R>(args, k)), level(&args.level[roi.level]), n(roi.n), count(1) {
        if (roi.y.samples >= R(1) && roi.x.samples >= R(1)) count = roi.y.samples * roi.x.samples;
    }

    // Part of the map, along the region's own axes. No point of it is farther from its middle than half its diagonal.
    Extent<R> along(const Pooling& args, const Extent<R>& part) const {
        if (!args.rotated) return part;
        const R away_y = (part.top + part.bottom) / R(2) - roi.centre_y,
                away_x = (part.left + part.right) / R(2) - roi.centre_x;
        const R y = away_y * roi.cosine + away_x * roi.sine, x = away_x * roi.cosine - away_y * roi.sine;
        const R reach = (part.bottom - part.top + part.right - part.left) / R(2) + R(1);
        return {y - reach, x - reach, y + reach, x + reach};
    }

    // The samples of a bin that may lie in a part of the map.
    Spans samples_in(const Pooling& args, int bin_y, int bin_x, const Extent<R>& part) const {
        const Extent<R> own = along(args, part);
        return {samples_between(roi.y, bin_y, own.top, own.bottom), samples_between(roi.x, bin_x, own.left, own.right)};
    }

    Spans spans(const Pooling& args, int bin_y, int bin_x) const {
        return samples_in(args, bin_y, bin_x, {R(-1), R(-1), R(level->height), R(level->width)});
    }

    bool others(const Spans& spans) const {
        const R seen = R(spans.rows.last - spans.rows.first) * R(spans.columns.last - spans.columns.first);
        return seen < count && roi.y.samples >= R(1) && roi.x.samples >= R(1);
    }

    Place<R> place(const Pooling& args, int bin_y, int bin_x, long long i, long long j) const {
        const R y = sample_at(roi.y, bin_y, i), x = sample_at(roi.x, bin_x, j);
        const R down = args.rotated ? y * roi.cosine - x * roi.sine + roi.centre_y : y;
        const R across = args.rotated ? y * roi.sine + x * roi.cosine + roi.centre_x : x;
        return {tap(down, level->height), tap(across, level->width)};
    }

    template <class Visit>
    bool each(const Pooling& args, const Maps& maps, int bin_y, int bin_x, const Visit& visit) const {
        const Spans all = spans(args, bin_y, bin_x);
        for (long long i = all.rows.first; i < all.rows.last; ++i)
            for (long long j = all.columns.first; j < all.columns.last; ++j) {
                const Place<R> at = place(args, bin_y, bin_x, i, j);
                visit(sample_of(at.y, at.x, maps));
            }
        return others(all);
    }

    // The bins that may have samples in a part of the map.
    Spans bins_in(const Pooling& args, const Extent<R>& part) const {
        const Extent<R> own = along(args, part);
        return {bins_between(roi.y, own.top, own.bottom, args.out_height),
                bins_between(roi.x, own.left, own.right, args.out_width)};
    }

    // No pixel beyond these has a part in the region.
    Extent<R> touched(const Pooling& args) const {
        const R down = roi.y.bin * R(args.out_height), across = roi.x.bin * R(args.out_width);
        if (!args.rotated) {
            const R bottom = roi.y.start + down, right = roi.x.start + across;
            return {fmin(roi.y.start, bottom) - R(2), fmin(roi.x.start, right) - R(2), fmax(roi.y.start, bottom) + R(2),
                    fmax(roi.x.start, right) + R(2)};
        }
        const R y = fabs(down * roi.cosine / R(2)) + fabs(across * roi.sine / R(2)) + R(2);
        const R x = fabs(down * roi.sine / R(2)) + fabs(across * roi.cosine / R(2)) + R(2);
        return {roi.centre_y - y, roi.centre_x - x, roi.centre_y + y, roi.centre_x + x};
    }
};

// The bins of roi_pool (Girshick 2015): whole pixels, as many as a bin touches.
template <class R>
struct PixelBins {
    const PoolingLevel* level;
    int n;
    R count;
    R top, left, height, width;

    PixelBins() = default;

    PixelBins(const Pooling& args, long long k) : level(&args.level[0]), n(roi_sample(args, k)), count(1) {
        R side[4];
        for (int i = 0; i < 4; ++i) {
            side[i] = round(static_cast<R>(roi_number(args, k, 1 + i)) * static_cast<R>(level->scale));
            if (!within_reach(side[i])) n = -1;
        }
        left = side[0], top = side[1], width = fmax(side[2] - side[0] + R(1), R(1)),
        height = fmax(side[3] - side[1] + R(1), R(1));
    }

    static Span pixels(R start, R size, int bin, int bins, int extent) {
        const R each = size / R(bins);
        const R first = floor(R(bin) * each) + start, last = ceil(R(bin + 1) * each) + start, most = R(extent);
        return {static_cast<long long>(fmin(fmax(first, R(0)), most)),
                static_cast<long long>(fmin(fmax(last, R(0)), most))};
    }

    Spans spans(const Pooling& args, int bin_y, int bin_x) const {
        return {pixels(top, height, bin_y, args.out_height, level->height),
                pixels(left, width, bin_x, args.out_width, level->width)};
    }

    bool others(const Spans&) const { return false; }

    Place<R> place(const Pooling&, int, int, long long i, long long j) const {
        const int y = static_cast<int>(i), x = static_cast<int>(j);
        return {{y, y, R(0), true}, {x, x, R(0), true}};
    }

    template <class Visit>
    bool each(const Pooling& args, const Maps& maps, int bin_y, int bin_x, const Visit& visit) const {
        const Spans all = spans(args, bin_y, bin_x);
        for (long long y = all.rows.first; y < all.rows.last; ++y)
            for (long long x = all.columns.first; x < all.columns.last; ++x)
                visit(RoiSample<R>{1, {y * maps.y + x * maps.x}, {R(1)}});
        return false;
    }

    Spans samples_in(const Pooling& args, int bin_y, int bin_x, const Extent<R>& part) const {
        const Spans all = spans(args, bin_y, bin_x);
        return {held(all.rows, part.top, part.bottom), held(all.columns, part.left, part.right)};
    }

    // Bins of whole pixels overlap by up to one.
    Spans bins_in(const Pooling& args, const Extent<R>& part) const {
        const RoiAxis<R> y = {top, height / R(args.out_height), R(1)}, x = {left, width / R(args.out_width), R(1)};
        return {bins_between(y, part.top - R(1), part.bottom + R(1), args.out_height),
                bins_between(x, part.left - R(1), part.right + R(1), args.out_width)};
    }

    Extent<R> touched(const Pooling&) const {
        return {top - R(1), left - R(1), top + height + R(1), left + width + R(1)};
    }

    static Span held(const Span& span, R low, R high) {
        const long long first = static_cast<long long>(ceil(low)), last = static_cast<long long>(floor(high)) + 1;
        return {span.first > first ? span.first : first, span.last < last ? span.last : last};
    }
};

}  // namespace cuaug
