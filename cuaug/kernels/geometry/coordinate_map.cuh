#pragma once

#include "records/parameter_table.cuh"
#include "geometry/tile_map.cuh"

namespace cuaug {

// Output pixel to input pixel through maps of coordinates or of displacements.
struct CoordinateMap {
    ParameterTable map_x;  // [N, H, W]
    ParameterTable map_y;  // [N, H, W]
    double scale_x;        // map units to pixels
    double scale_y;
    float scale_x_float32;  // scale_x and scale_y in float32, converted by the host
    float scale_y_float32;
    float relative_float32;  // `relative` as a float, 0 or 1
    int relative;            // whether the maps hold displacements from the output pixel
    int in_height;
    int in_width;

    static constexpr bool has_tile_bounds = false, is_64bit = false;
    // A coordinate below it has at least 4 bits of fraction in float32. A power of two: one comparison tests both
    // sides.
    static constexpr int float32_side_limit = 1048576;

    struct SampleMap {
        const CoordinateMap* map;
        long long n;
    };

    SampleMap sample(long long n) const { return {this, n}; }

    double x(long long n, int x, int y) const {
        const double value = scale_x * read(map_x, n * map_x.n_stride + y * map_x.y_stride + x * map_x.x_stride);
        return relative ? value + x : value;
    }

    double y(long long n, int x, int y) const {
        const double value = scale_y * read(map_y, n * map_y.n_stride + y * map_y.y_stride + x * map_y.x_stride);
        return relative ? value + y : value;
    }

    // Where a tile lies in the output, and the base of its coordinates, which are computed where maps are read:
    // gpu/coordinate_map_reader.cuh, cpu/loops/coordinate_tile.hpp.
    template <class R>
    struct TileMap {
        static constexpr bool is_affine = false;

        int base_x, base_y;
        long long n;
        int left, top;
    };

    // Absolute float32 maps of images below 2^20 pixels a side have base 0. Others are rebased to the source of the
    // tile's first pixel, which smooth maps stay near. The base is clamped to the image: neighbours in a map may lead
    // anywhere, and relative to a far base a coordinate inside the image would lose its fraction.
    template <class R>
    static TileMap<R> tile_map(const SampleMap& sample_map, int x, int y) {
        const CoordinateMap& map = *sample_map.map;
        if (!map.relative && !map.map_x.is_double && !map.map_y.is_double &&
            (map.in_width | map.in_height) < float32_side_limit)
            return {0, 0, sample_map.n, x, y};
        return {clamp_to(floor_or_zero(map.x(sample_map.n, x, y)), map.in_width),
                clamp_to(floor_or_zero(map.y(sample_map.n, x, y)), map.in_height), sample_map.n, x, y};
    }

    static int clamp_to(int i, int n) { return i < 0 ? 0 : i < n ? i : n; }
};

// A CoordinateMap for which the GPU computes coordinates in double precision and offsets in 64 bits: for float64 maps,
// for images or maps that are too large, and for images with negative strides (`map_geometry` of _passes/geometry.py).
struct CoordinateMap64 : CoordinateMap {
    static constexpr bool is_64bit = true;
};

}  // namespace cuaug
