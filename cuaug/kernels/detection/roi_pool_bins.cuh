#pragma once

#include "detection/roi_axis.cuh"

namespace cuaug {

// Bins whose sampling points are the pixels that they touch. The functions are those of RoiAlignBins. With `has_ends` a
// region includes the pixels of its right and lower side. Without it, a region includes neither these pixels nor any
// pixel of the map's last row and column.
template <class R, bool has_ends>
struct PixelBins {
    const RoiLevel* level;
    int n;  // sample; -1: none
    R top, left, height, width;

    PixelBins() = default;

    PixelBins(const RoiRecord& args, long long k) : level(&args.level[0]), n(roi_sample(args, k)) {
        R side[4];
        for (int i = 0; i < 4; ++i) {
            side[i] = round(static_cast<R>(roi_value(args, k, 1 + i)) * static_cast<R>(level->scale));
            if (!is_in_range(side[i])) n = -1;
        }
        left = side[0], top = side[1], width = fmax(side[2] - side[0] + R(has_ends), R(1)),
        height = fmax(side[3] - side[1] + R(has_ends), R(1));
    }

    static IndexRange pixels_of_bin(R start, R size, int bin, int bins, int extent) {
        const R bin_size = size / R(bins);
        const int max = extent - !has_ends;
        // R(max) may be rounded up: float does not hold every integer above 2^24.
        auto clamped = [&](R pixel) {
            const int rounded = static_cast<int>(fmin(fmax(pixel, R(0)), R(max)));
            return static_cast<long long>(rounded < max ? rounded : max);
        };
        return {clamped(floor(R(bin) * bin_size) + start), clamped(ceil(R(bin + 1) * bin_size) + start)};
    }

    IndexRect points_of(const RoiRecord& args, int bin_y, int bin_x) const {
        return {pixels_of_bin(top, height, bin_y, args.out_height, level->height),
                pixels_of_bin(left, width, bin_x, args.out_width, level->width)};
    }

    R point_count(const RoiRecord& args, int bin_y, int bin_x) const {
        const IndexRect pixels = points_of(args, bin_y, bin_x);
        const R rows = R(pixels.rows.end - pixels.rows.first), columns = R(pixels.columns.end - pixels.columns.first);
        return fmax(rows, R(1)) * fmax(columns, R(1));
    }

    bool has_outside_points(const IndexRect&) const { return false; }

    PointTaps<R> point_taps(const RoiRecord&, int, int, long long i, long long j) const {
        const int y = static_cast<int>(i), x = static_cast<int>(j);
        return {{y, y, R(0), true}, {x, x, R(0), true}};
    }

    template <class Visitor>
    bool for_each_point(const RoiRecord& args, const FeatureMap& map, int bin_y, int bin_x,
                        const Visitor& visit) const {
        const IndexRect pixels = points_of(args, bin_y, bin_x);
        for (long long y = pixels.rows.first; y < pixels.rows.end; ++y)
            for (long long x = pixels.columns.first; x < pixels.columns.end; ++x)
                visit(RoiPoint<R>{1, {y * map.y_stride + x * map.x_stride}, {R(1)}});
        return false;
    }

    IndexRect points_in(const RoiRecord& args, int bin_y, int bin_x, const MapRect<R>& rect) const {
        const IndexRect pixels = points_of(args, bin_y, bin_x);
        return {intersect(pixels.rows, rect.top, rect.bottom), intersect(pixels.columns, rect.left, rect.right)};
    }

    // Adjacent bins overlap by up to a pixel.
    IndexRect bins_in(const RoiRecord& args, const MapRect<R>& rect) const {
        const RoiAxis<R> y = {top, height / R(args.out_height), R(1)}, x = {left, width / R(args.out_width), R(1)};
        return {bins_between(y, rect.top - R(1), rect.bottom + R(1), args.out_height),
                bins_between(x, rect.left - R(1), rect.right + R(1), args.out_width)};
    }

    MapRect<R> touched_rect(const RoiRecord&) const {
        return {top - R(1), left - R(1), top + height + R(1), left + width + R(1)};
    }

    static IndexRange intersect(const IndexRange& range, R low, R high) {
        const long long first = static_cast<long long>(ceil(low)), end = static_cast<long long>(floor(high)) + 1;
        return {range.first > first ? range.first : first, range.end < end ? range.end : end};
    }
};

// The bins of roi_pool (Girshick 2015).
template <class R>
struct RoiPoolBins : PixelBins<R, true> {
    using PixelBins<R, true>::PixelBins;
};

// The bins of ps_roi_pool (Dai et al. 2016), as torchvision has them.
template <class R>
struct PsRoiPoolBins : PixelBins<R, false> {
    using PixelBins<R, false>::PixelBins;
};

}  // namespace cuaug
