#pragma once

// A float32 coordinate near 4096 is only good to 1/4096 of a pixel. A geometry is therefore rebased, in double precision and
// once per tile, to whole input pixels (base_x, base_y); inside the tile float32 carries the small remainder.

namespace cuaug {

// Beyond this, or not finite, a coordinate is outside every border.
constexpr double coordinate_limit = 1073741824.0;

template <class R>
struct Point {
    R x;
    R y;
};

template <class R>
inline bool in_range(const Point<R>& p) {
    const R limit = static_cast<R>(coordinate_limit);
    return p.x > -limit && p.x < limit && p.y > -limit && p.y < limit;
}

// The whole pixels to take off a coordinate; 0 where there is nothing sensible to take off.
inline int whole(double coordinate) {
    return coordinate > -coordinate_limit && coordinate < coordinate_limit ? static_cast<int>(floor(coordinate)) : 0;
}

template <class R>
struct Bounds {
    R x_low;
    R x_high;
    R y_low;
    R y_high;
};

template <class R>
inline Bounds<R> around(const Point<R>& a, const Point<R>& b, const Point<R>& c, const Point<R>& d) {
    return {fmin(fmin(a.x, b.x), fmin(c.x, d.x)), fmax(fmax(a.x, b.x), fmax(c.x, d.x)),
            fmin(fmin(a.y, b.y), fmin(c.y, d.y)), fmax(fmax(a.y, b.y), fmax(c.y, d.y))};
}

}  // namespace cuaug
