#pragma once

#include "records/matrix.cuh"
#include "geometry/tile_map.cuh"

namespace cuaug {

// Output pixel to input pixel by a 2x3 matrix.
struct Affine : MatrixParameter<2> {
    static constexpr bool has_tile_bounds = true;

    // Destination to source, pixel centres at integers.
    struct Matrix {
        double a, b, c, d, e, f;
    };

    Matrix sample(long long n) const {
        return from_entries([&](int i) { return entry(n, i); });
    }

    // The same matrix from a function that returns entry i: lanes of a warp may load one entry each and get the others
    // from other lanes.
    template <class Entry>
    Matrix from_entries(const Entry& entry) const {
        Matrix m = {entry(0), entry(1), entry(2), entry(3), entry(4), entry(5)};
        if (half_pixel_centers) {
            m.c += 0.5 * (m.a + m.b) - 0.5;
            m.f += 0.5 * (m.d + m.e) - 0.5;
        }
        if (inverse) return m;
        const double scale = 1.0 / (m.a * m.e - m.b * m.d);
        const double a = m.e * scale, b = -m.b * scale, d = -m.d * scale, e = m.a * scale;
        return {a, b, -(a * m.c + b * m.f), d, e, -(d * m.c + e * m.f)};
    }

    // The tile's map: input coordinate, relative to the base, of the pixel (dx, dy) from the tile's first pixel.
    template <class R>
    struct TileMap {
        static constexpr bool is_affine = true;

        int base_x, base_y;
        R a, b, c, d, e, f;

        Point<R> at(R dx, R dy) const { return {a * dx + (b * dy + c), d * dx + (e * dy + f)}; }

        // The same map relative to the input pixel (x, y) from the base, with `rounding` added to both coordinates.
        TileMap shifted_to(int x, int y, R rounding) const {
            return {
                base_x + x, base_y + y, a, b, c - static_cast<R>(x) + rounding, d, e, f - static_cast<R>(y) + rounding};
        }

        // Bounds of a tile's input coordinates; false if they are not known.
        bool bounds(int width, int height, Bounds<R>& box) const {
            const R right = R(width - 1), bottom = R(height - 1);
            return bounding_box(at(R(0), R(0)), at(right, R(0)), at(R(0), bottom), at(right, bottom), box);
        }
    };

    template <class R>
    static TileMap<R> tile_map(const Matrix& m, int x, int y) {
        const double source_x = m.a * x + m.b * y + m.c, source_y = m.d * x + m.e * y + m.f;
        const int base_x = floor_or_zero(source_x), base_y = floor_or_zero(source_y);
        auto real = [](double value) {  // fewer instructions than static_cast (dtype.cuh)
            if constexpr (is_same_v<R, float>)
                return to_float32(value);
            else
                return value;
        };
        return {base_x,
                base_y,
                real(m.a),
                real(m.b),
                real(source_x - base_x),
                real(m.d),
                real(m.e),
                real(source_y - base_y)};
    }
};

inline bool is_identity(const Affine::Matrix& m) {
    return m.a == 1.0 && m.b == 0.0 && m.c == 0.0 && m.d == 0.0 && m.e == 1.0 && m.f == 0.0;
}

}  // namespace cuaug
