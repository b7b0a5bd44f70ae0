#pragma once

// A float32 coordinate near 4096 is only precise to 1/4096 of a pixel. A geometry is therefore rebased, in double
// precision and once per tile, to whole input pixels (base_x, base_y); inside the tile float32 carries the small
// remainder. Coordinate maps (`remap`) of float32 positions, not displacements, in images below 2^20 pixels a side need
// no base: their values are rounded to float32 already (coordinate_map.cuh).

namespace cuaug {

// A pixel gets the fill, whatever the border, if a coordinate is not finite, or at least this far from the base or from
// the input's first pixel.
constexpr double coordinate_limit = 1073741824.0;  // 2^30

template <class R>
struct Point {
    R x;
    R y;
};

template <class R>
inline bool in_range(const Point<R>& p) {
    const R limit = static_cast<R>(coordinate_limit);
    return (fabs(p.x) < limit) & (fabs(p.y) < limit);
}

// The whole part of a coordinate, and the rest as `fraction`.
template <class R>
inline int split_floor(R x, R& fraction) {
    const R whole = floor(x);
    fraction = x - whole;
    return static_cast<int>(whole);
}

// Whether a coordinate, counted from the base, is within coordinate_limit of the base and of the input's first pixel.
// The sum of the whole parts is exact. It is unsigned because it may pass INT_MAX; a sum below 0 wraps to a large one.
template <class R>
inline bool in_range(R coordinate, int base) {
    if (!(fabs(coordinate) < static_cast<R>(coordinate_limit))) return false;
    constexpr auto limit = static_cast<unsigned int>(coordinate_limit);
    return static_cast<unsigned int>(static_cast<int>(floor(coordinate))) + static_cast<unsigned int>(base) + limit <
           2 * limit;
}

// The whole part of a coordinate, as a base; 0 if the coordinate is beyond `coordinate_limit` or not finite.
inline int floor_or_zero(double coordinate) {
    return coordinate > -coordinate_limit && coordinate < coordinate_limit ? static_cast<int>(floor(coordinate)) : 0;
}

template <class R>
struct Bounds {
    R x_low;
    R x_high;
    R y_low;
    R y_high;
};

// Whether all points of a box, counted from the base, are within coordinate_limit of the input's first pixel.
template <class R>
inline bool in_range(const Bounds<R>& box, int base_x, int base_y) {
    const R x = static_cast<R>(base_x), y = static_cast<R>(base_y);
    return in_range(Point<R>{x + box.x_low, y + box.y_low}) & in_range(Point<R>{x + box.x_high, y + box.y_high});
}

// The bounds of four points; false if a coordinate is beyond `coordinate_limit` or a NaN, which fmin would ignore.
template <class R>
inline bool bounding_box(const Point<R>& a, const Point<R>& b, const Point<R>& c, const Point<R>& d, Bounds<R>& box) {
    box = {fmin(fmin(a.x, b.x), fmin(c.x, d.x)), fmax(fmax(a.x, b.x), fmax(c.x, d.x)),
           fmin(fmin(a.y, b.y), fmin(c.y, d.y)), fmax(fmax(a.y, b.y), fmax(c.y, d.y))};
    const R limit = static_cast<R>(coordinate_limit), sum = ((a.x + b.x) + (c.x + d.x)) + ((a.y + b.y) + (c.y + d.y));
    return (sum == sum) & (box.x_low > -limit) & (box.x_high < limit) & (box.y_low > -limit) & (box.y_high < limit);
}

}  // namespace cuaug
