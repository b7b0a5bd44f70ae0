#pragma once

#include "detection/roi_axis.cuh"
#include "detection/rotated_box.cuh"

namespace cuaug {

template <class R>
struct Roi {
    int n;  // sample; -1: none, and all of the result is 0
    int level;
    RoiAxis<R> y, x;  // in pixels of the level; rotated: along the region's own axes, relative to its center
    R center_y, center_x, cosine, sine;
};

// Reads region k, in pixels of its level. A region with a coordinate that is beyond 2^30 or NaN belongs to no sample.
template <class R>
inline Roi<R> read_roi(const RoiRecord& args, long long k) {
    Roi<R> roi = {roi_sample(args, k), roi_level(args, k), {}, {}, 0, 0, 1, 0};
    const R scale = static_cast<R>(args.level[roi.level].scale), shift = args.aligned ? R(0.5) : R(0);
    R value[4];  // left, top, right, bottom; rotated: center x and y, width, height
    for (int i = 0; i < 4; ++i) {
        const R number = static_cast<R>(roi_value(args, k, 1 + i));
        value[i] = args.rotated && i > 1 ? number * scale : number * scale - shift;
        if (!is_in_range(value[i])) roi.n = -1;
    }
    R width = args.rotated ? value[2] : value[2] - value[0], height = args.rotated ? value[3] : value[3] - value[1];
    if (!args.aligned) width = width > R(1) ? width : R(1), height = height > R(1) ? height : R(1);
    if (args.rotated) {
        const double degrees = roi_value(args, k, 5);
        const Rotation rotation = make_rotation(degrees);
        if (!is_in_range(degrees)) roi.n = -1;
        roi.center_x = value[0], roi.center_y = value[1], roi.cosine = static_cast<R>(rotation.cosine),
        roi.sine = static_cast<R>(rotation.sine);
        value[0] = -width / R(2), value[1] = -height / R(2);
    }
    roi.x = make_axis(value[0], width, args.out_width, args.sampling_ratio);
    roi.y = make_axis(value[1], height, args.out_height, args.sampling_ratio);
    return roi;
}

// The bins of roi_align: interpolated sampling points.
template <class R>
struct RoiAlignBins {
    Roi<R> roi;
    const RoiLevel* level;
    int n;             // sample; -1: none
    R points_per_bin;  // rows times columns of sampling points; at least 1

    RoiAlignBins() = default;

    RoiAlignBins(const RoiRecord& args, long long k)
        : roi(read_roi<R>(args, k)), level(&args.level[roi.level]), n(roi.n), points_per_bin(1) {
        if (roi.y.points >= R(1) && roi.x.points >= R(1)) points_per_bin = roi.y.points * roi.x.points;
    }

    // The number that the sum of a bin's sampling points is divided by.
    R point_count(const RoiRecord&, int, int) const { return points_per_bin; }

    // A rectangle along the region's own axes that contains `rect`, a rectangle of the map: no point of `rect` is
    // farther from the center of `rect` than half the sum of its height and width.
    MapRect<R> to_region_axes(const RoiRecord& args, const MapRect<R>& rect) const {
        if (!args.rotated) return rect;
        const R dy = (rect.top + rect.bottom) / R(2) - roi.center_y,
                dx = (rect.left + rect.right) / R(2) - roi.center_x;
        const R y = dy * roi.cosine + dx * roi.sine, x = dx * roi.cosine - dy * roi.sine;
        const R radius = (rect.bottom - rect.top + rect.right - rect.left) / R(2) + R(1);
        return {y - radius, x - radius, y + radius, x + radius};
    }

    // The sampling points of a bin that may lie in a rectangle of the map.
    IndexRect points_in(const RoiRecord& args, int bin_y, int bin_x, const MapRect<R>& rect) const {
        const MapRect<R> region_rect = to_region_axes(args, rect);
        return {points_between(roi.y, bin_y, region_rect.top, region_rect.bottom),
                points_between(roi.x, bin_x, region_rect.left, region_rect.right)};
    }

    // The sampling points of a bin that may lie in the map.
    IndexRect points_of(const RoiRecord& args, int bin_y, int bin_x) const {
        return points_in(args, bin_y, bin_x, {R(-1), R(-1), R(level->height), R(level->width)});
    }

    // Whether a bin has more sampling points than `points`: the others lie outside the map, where all values are 0.
    bool has_outside_points(const IndexRect& points) const {
        const R visited = R(points.rows.end - points.rows.first) * R(points.columns.end - points.columns.first);
        return visited < points_per_bin && roi.y.points >= R(1) && roi.x.points >= R(1);
    }

    PointTaps<R> point_taps(const RoiRecord& args, int bin_y, int bin_x, long long i, long long j) const {
        const R y = point_coordinate(roi.y, bin_y, i), x = point_coordinate(roi.x, bin_x, j);
        const R map_y = args.rotated ? y * roi.cosine - x * roi.sine + roi.center_y : y;
        const R map_x = args.rotated ? y * roi.sine + x * roi.cosine + roi.center_x : x;
        return {make_tap(map_y, level->height), make_tap(map_x, level->width)};
    }

    // Calls `visit(point)` for each sampling point of a bin that may lie in the map; returns whether there are others.
    template <class Visitor>
    bool for_each_point(const RoiRecord& args, const FeatureMap& map, int bin_y, int bin_x,
                        const Visitor& visit) const {
        const IndexRect points = points_of(args, bin_y, bin_x);
        for (long long i = points.rows.first; i < points.rows.end; ++i)
            for (long long j = points.columns.first; j < points.columns.end; ++j)
                visit(make_point(point_taps(args, bin_y, bin_x, i, j), map));
        return has_outside_points(points);
    }

    // The bins that may have sampling points in a rectangle of the map.
    IndexRect bins_in(const RoiRecord& args, const MapRect<R>& rect) const {
        const MapRect<R> region_rect = to_region_axes(args, rect);
        return {bins_between(roi.y, region_rect.top, region_rect.bottom, args.out_height),
                bins_between(roi.x, region_rect.left, region_rect.right, args.out_width)};
    }

    // A rectangle of the map that holds every pixel that contributes to the region.
    MapRect<R> touched_rect(const RoiRecord& args) const {
        const R height = roi.y.bin_size * R(args.out_height), width = roi.x.bin_size * R(args.out_width);
        if (!args.rotated) {
            const R bottom = roi.y.start + height, right = roi.x.start + width;
            return {fmin(roi.y.start, bottom) - R(2), fmin(roi.x.start, right) - R(2), fmax(roi.y.start, bottom) + R(2),
                    fmax(roi.x.start, right) + R(2)};
        }
        const R y = fabs(height * roi.cosine / R(2)) + fabs(width * roi.sine / R(2)) + R(2);
        const R x = fabs(height * roi.sine / R(2)) + fabs(width * roi.cosine / R(2)) + R(2);
        return {roi.center_y - y, roi.center_x - x, roi.center_y + y, roi.center_x + x};
    }
};

}  // namespace cuaug
