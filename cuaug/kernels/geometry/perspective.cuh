#pragma once

#include "records/matrix.cuh"
#include "geometry/tile_map.cuh"

namespace cuaug {

// Output pixel to input pixel by a 3x3 homography.
struct Perspective : MatrixParameter<3> {
    static constexpr bool has_tile_bounds = true;

    // Destination to source, pixel centres at integers.
    struct Matrix {
        double a, b, c, d, e, f, g, h, i;
    };

    Matrix sample(long long n) const {
        return from_entries([&](int i) { return entry(n, i); });
    }

    // The same matrix from a function that returns entry i: lanes of a warp may load one entry each and get the others
    // from other lanes.
    template <class Entry>
    Matrix from_entries(const Entry& entry) const {
        Matrix m = {entry(0), entry(1), entry(2), entry(3), entry(4), entry(5), entry(6), entry(7), entry(8)};
        if (half_pixel_centers) {
            // T(-0.5) M T(0.5): first the columns, then the rows.
            m.c += 0.5 * (m.a + m.b);
            m.f += 0.5 * (m.d + m.e);
            m.i += 0.5 * (m.g + m.h);
            m.a -= 0.5 * m.g;
            m.b -= 0.5 * m.h;
            m.c -= 0.5 * m.i;
            m.d -= 0.5 * m.g;
            m.e -= 0.5 * m.h;
            m.f -= 0.5 * m.i;
        }
        if (inverse) return m;
        const double a = m.e * m.i - m.f * m.h, d = m.f * m.g - m.d * m.i, g = m.d * m.h - m.e * m.g;
        const double scale = 1.0 / (m.a * a + m.b * d + m.c * g);
        return {a * scale, (m.c * m.h - m.b * m.i) * scale, (m.b * m.f - m.c * m.e) * scale,
                d * scale, (m.a * m.i - m.c * m.g) * scale, (m.c * m.d - m.a * m.f) * scale,
                g * scale, (m.b * m.g - m.a * m.h) * scale, (m.a * m.e - m.b * m.d) * scale};
    }

    // The tile's map: input coordinate, relative to the base, of the pixel (dx, dy) from the tile's first pixel.
    template <class R>
    struct TileMap {
        static constexpr bool is_affine = false;

        int base_x, base_y;
        R a, b, c, d, e, f, g, h, i;

        R depth(R dx, R dy) const { return g * dx + (h * dy + i); }

        Point<R> at(R dx, R dy) const {
            const R scale = R(1) / depth(dx, dy);
            return {(a * dx + (b * dy + c)) * scale, (d * dx + (e * dy + f)) * scale};
        }

        // The same map relative to the input pixel (x, y) from the base, with `rounding` added to both coordinates.
        TileMap shifted_to(int x, int y, R rounding) const {
            const R rx = static_cast<R>(x) - rounding, ry = static_cast<R>(y) - rounding;
            return {base_x + x, base_y + y, a - rx * g, b - rx * h, c - rx * i, d - ry * g,
                    e - ry * h, f - ry * i, g,          h,          i};
        }

        // The corners bound the tile only if the horizon does not cross it. Close to the horizon a rounding error grows
        // with the ratio of the depths and with the side of the box in pixels. At the limits, ratio = 128 and ratio x
        // side = 128 x 256, points are up to 0.004 pixels outside the bounds (simulated): about the slack of
        // `staged_box_of` (gpu/stage.cuh).
        bool bounds(int width, int height, Bounds<R>& box) const {
            const R right = R(width - 1), bottom = R(height - 1);
            const R p = depth(R(0), R(0)), q = depth(right, R(0));
            const R r = depth(R(0), bottom), s = depth(right, bottom);
            const R nearest = fmin(fmin(fabs(p), fabs(q)), fmin(fabs(r), fabs(s))),
                    farthest = fmax(fmax(fabs(p), fabs(q)), fmax(fabs(r), fabs(s)));
            const R max_depth = R(1e30);  // an infinite depth gives points of 0, which pass `bounding_box`
            if (!(p * q > R(0) && p * r > R(0) && p * s > R(0) && farthest < max_depth && farthest < R(128) * nearest))
                return false;
            if (!bounding_box(at(R(0), R(0)), at(right, R(0)), at(R(0), bottom), at(right, bottom), box)) return false;
            return farthest * fmax(box.x_high - box.x_low, box.y_high - box.y_low) < R(128 * 256) * nearest;
        }
    };

    // x - base = ((a - base g) X + ...) / (g X + ...): the base goes into the numerator, in double precision.
    template <class R>
    static TileMap<R> tile_map(const Matrix& m, int x, int y) {
        const double nx = m.a * x + m.b * y + m.c, ny = m.d * x + m.e * y + m.f, depth = m.g * x + m.h * y + m.i;
        const int base_x = floor_or_zero(nx / depth), base_y = floor_or_zero(ny / depth);
        return {base_x,
                base_y,
                static_cast<R>(m.a - base_x * m.g),
                static_cast<R>(m.b - base_x * m.h),
                static_cast<R>(nx - base_x * depth),
                static_cast<R>(m.d - base_y * m.g),
                static_cast<R>(m.e - base_y * m.h),
                static_cast<R>(ny - base_y * depth),
                static_cast<R>(m.g),
                static_cast<R>(m.h),
                static_cast<R>(depth)};
    }
};

}  // namespace cuaug
