#pragma once

#include "records/record.cuh"
#include "geometry/tile_map.cuh"

namespace cuaug {

// Output pixel to input pixel by a 2x3 matrix.
struct Affine : Matrices<2> {
    static constexpr bool bounded = true;

    // Destination to source, pixel centres at integers.
    struct Matrix {
        double a, b, c, d, e, f;
    };

    Matrix sample(long long n) const {
        return from_entries([&](int i) { return entry(n, i); });
    }

    // The same from a function of i, for threads that share the reading.
    template <class Entry>
    Matrix from_entries(const Entry& entry) const {
        Matrix m = {entry(0), entry(1), entry(2), entry(3), entry(4), entry(5)};
        if (corner) {
            m.c += 0.5 * (m.a + m.b) - 0.5;
            m.f += 0.5 * (m.d + m.e) - 0.5;
        }
        if (inverse) return m;
        const double scale = 1.0 / (m.a * m.e - m.b * m.d);
        const double a = m.e * scale, b = -m.b * scale, d = -m.d * scale, e = m.a * scale;
        return {a, b, -(a * m.c + b * m.f), d, e, -(d * m.c + e * m.f)};
    }

    // Input coordinate, less the base, of the pixel (dx, dy) away from the tile's origin.
    template <class R>
    struct Local {
        static constexpr bool linear = true;

        int base_x, base_y;
        R a, b, c, d, e, f;

        Point<R> at(R dx, R dy) const { return {a * dx + (b * dy + c), d * dx + (e * dy + f)}; }

        // The same coordinates, counted from another pixel of the input, and a little added to both.
        Local from(int x, int y, R nudge) const {
            return {base_x + x, base_y + y, a, b, c - static_cast<R>(x) + nudge, d, e, f - static_cast<R>(y) + nudge};
        }

        // Where a tile lies; false if that is not known.
        bool bounds(int width, int height, Bounds<R>& box) const {
            const R right = R(width - 1), bottom = R(height - 1);
            return around(at(R(0), R(0)), at(right, R(0)), at(R(0), bottom), at(right, bottom), box);
        }
    };

    template <class R>
    static Local<R> local(const Matrix& m, int x, int y) {
        const double cx = m.a * x + m.b * y + m.c, cy = m.d * x + m.e * y + m.f;
        const int base_x = whole(cx), base_y = whole(cy);
        auto real = [](double value) {
            if constexpr (is_same_v<R, float>)
                return to_float32(value);
            else
                return value;
        };
        return {base_x, base_y, real(m.a), real(m.b), real(cx - base_x), real(m.d), real(m.e), real(cy - base_y)};
    }
};

}  // namespace cuaug
