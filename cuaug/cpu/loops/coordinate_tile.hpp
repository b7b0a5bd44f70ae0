#pragma once

#include "dispatch_functor.hpp"
#include "nontemporal.hpp"
#include "simd8.hpp"
#include "records/warp_image.cuh"

// A tile of the output and its input coordinates.

namespace cuaug {

constexpr int tile_width = 32, tile_height = 64, tile_pixels = tile_width * tile_height;

using WarpRecordBase = BatchWithFill;  // what the records of all geometries begin with

// Coordinates count from the pixel (base_x, base_y). A row is padded to a multiple of 8 pixels with copies of its
// last pixel.
template <class R>
struct CoordinateTile {
    long long n, t;
    int left, top, width, height;
    int task_right;  // the first column after the task's last tile
    int base_x, base_y;
    bool is_near_base;  // every coordinate is finite and less than 2^20 from the base; |base| < 2^29
    Bounds<R> bounds;
    R *x, *y;  // [tile_height, tile_width]

    int padded_width() const { return (width + 7) & ~7; }
};

// The smallest and the largest of `count` numbers, a multiple of 8; returns false if one is not finite.
template <class R>
inline bool min_max(const R* __restrict__ values, int count, R& low, R& high) {
    using V = typename Simd8<R>::type;
    V value, zeros = {};
    memcpy(&value, values, sizeof(value));
    MinMax8<R> range = {value, value};
    for (int i = 0; i < count; i += lanes) {
        memcpy(&value, values + i, sizeof(value));
        range.add(value);
        zeros += value - value;  // NaN if a value is not finite
    }
    low = range.low();
    high = range.high();
    R zero = R(0);
    for (int j = 0; j < lanes; ++j) zero += zeros[j];
    return zero == R(0);
}

// Fills a tile's coordinates from `coordinate_at(dx, dy)`, and pads its rows.
template <class R, class CoordinateAt>
__attribute__((always_inline)) inline void fill_coordinates(CoordinateTile<R>& tile,
                                                            const CoordinateAt& coordinate_at) {
    for (int dy = 0; dy < tile.height; ++dy) {
        R* __restrict__ x = tile.x + dy * tile_width, * __restrict__ y = tile.y + dy * tile_width;
        for (int dx = 0; dx < tile.width; ++dx) {
            const Point<R> p = coordinate_at(dx, dy);
            x[dx] = p.x;
            y[dx] = p.y;
        }
        for (int dx = tile.width; dx < tile.padded_width(); ++dx) x[dx] = x[tile.width - 1], y[dx] = y[tile.width - 1];
    }
}

template <class Geometry, class R>
inline void transform_coordinates(const Geometry& geometry, CoordinateTile<R>& tile) {
    const auto map = Geometry::template tile_map<R>(geometry.sample(tile.n), tile.left, tile.top);
    tile.base_x = map.base_x;
    tile.base_y = map.base_y;
    fill_coordinates(tile, [&](int dx, int dy) { return map.at(static_cast<R>(dx), static_cast<R>(dy)); });
}

// Prefetches `rows` rows of `bytes` bytes for the next tile: a tile reads too little of each row for the hardware
// prefetcher.
inline void prefetch_rows(const void* first, long long stride, int rows, int bytes) {
    for (int y = 0; y < rows; ++y)
        for (int x = 0; x < bytes; x += cache_line_bytes)
            __builtin_prefetch(static_cast<const char*>(first) + y * stride + x);
}

// Reads a tile's coordinates from maps. `Dense`: both maps are float32 with adjacent columns. The compiler then sees
// their fields `is_double` and `x_stride` as constants and, as fill_coordinates is inlined, vectorizes the loop.
template <bool Dense, class R>
inline void read_tile(CoordinateMap maps, double base_x, double base_y, CoordinateTile<R>& tile) {
    if constexpr (Dense) {
        maps.map_x.is_double = maps.map_y.is_double = 0;
        maps.map_x.x_stride = maps.map_y.x_stride = 1;
    }
    fill_coordinates(tile, [&](int dx, int dy) {
        const int x = tile.left + dx, y = tile.top + dy;
        return Point<R>{static_cast<R>(maps.x(tile.n, x, y) - base_x), static_cast<R>(maps.y(tile.n, x, y) - base_y)};
    });
}

template <class R>
inline void read_coordinate_maps(const CoordinateMap& maps, CoordinateTile<R>& tile) {
    const auto tile_map = CoordinateMap::tile_map<R>(maps.sample(tile.n), tile.left, tile.top);
    tile.base_x = tile_map.base_x;
    tile.base_y = tile_map.base_y;
    auto is_dense = [](const ParameterTable& table) { return !table.is_double && table.x_stride == 1; };
    if (!is_dense(maps.map_x) || !is_dense(maps.map_y)) return read_tile<false>(maps, tile.base_x, tile.base_y, tile);
    const int next_width = min(tile.task_right - tile.left - tile.width, tile_width);
    auto prefetch_next = [&](const ParameterTable& table) {
        prefetch_rows(static_cast<const float*>(table.data) + tile.n * table.n_stride + tile.top * table.y_stride +
                          tile.left + tile.width,
                      4 * table.y_stride, tile.height, 4 * next_width);
    };
    prefetch_next(maps.map_x);
    prefetch_next(maps.map_y);
    read_tile<true>(maps, tile.base_x, tile.base_y, tile);
}

template <class Geometry, class R>
inline void compute_coordinates(const void* record, CoordinateTile<R>& tile) {
    const Geometry& geometry = static_cast<const WarpRecord<Geometry>*>(record)->geometry;
    if constexpr (Geometry::has_tile_bounds)
        transform_coordinates(geometry, tile);
    else
        read_coordinate_maps(geometry, tile);
    const int padded_width = tile.padded_width();
    Bounds<R>& bounds = tile.bounds;
    bool is_finite = true;
    if constexpr (is_same_v<Geometry, Affine>) {
        // An affine map is monotone along x and along y, rounding included, so the corners of the tile bound it.
        const int right = tile.width - 1, bottom = (tile.height - 1) * tile_width;
        const R x[8] = {tile.x[0], tile.x[right], tile.x[bottom], tile.x[bottom + right],
                        tile.x[0], tile.x[0],     tile.x[0],      tile.x[0]};
        const R y[8] = {tile.y[0], tile.y[right], tile.y[bottom], tile.y[bottom + right],
                        tile.y[0], tile.y[0],     tile.y[0],      tile.y[0]};
        is_finite = min_max(x, 8, bounds.x_low, bounds.x_high) && min_max(y, 8, bounds.y_low, bounds.y_high);
    } else {
        bounds = {tile.x[0], tile.x[0], tile.y[0], tile.y[0]};
        for (int dy = 0; dy < tile.height; ++dy) {
            R x_low, x_high, y_low, y_high;
            is_finite &= min_max(tile.x + dy * tile_width, padded_width, x_low, x_high) &
                         min_max(tile.y + dy * tile_width, padded_width, y_low, y_high);
            bounds = {fmin(x_low, bounds.x_low), fmax(x_high, bounds.x_high), fmin(y_low, bounds.y_low),
                      fmax(y_high, bounds.y_high)};
        }
    }
    const R offset_limit = R(1 << 20);
    const int base_limit = 1 << 29;
    tile.is_near_base = is_finite && bounds.x_low > -offset_limit && bounds.x_high < offset_limit &&
                        bounds.y_low > -offset_limit && bounds.y_high < offset_limit && tile.base_x > -base_limit &&
                        tile.base_x < base_limit && tile.base_y > -base_limit && tile.base_y < base_limit;
}

// Whether a coordinate is within coordinate_limit (kernels/geometry/tile_map.cuh), both counted from the base and
// counted from the first pixel of the input.
template <class R>
inline bool is_in_range(const CoordinateTile<R>& tile, const Point<R>& p) {
    return in_range(p.x, tile.base_x) && in_range(p.y, tile.base_y);
}

}  // namespace cuaug
