#pragma once

#include "../record.cuh"
#include "local.cuh"

namespace cuaug {

// Output pixel to input pixel by a map of coordinates, or of displacements.
struct Grid {
    Table map_x;         // [N, H, W]
    Table map_y;         // [N, H, W]
    double scale_x;      // map units to pixels
    double scale_y;
    float unit_x;        // the same
    float unit_y;
    float step;          // 1 if relative, else 0
    int relative;        // the maps hold displacements from the output pixel
    int in_height;
    int in_width;

    static constexpr bool bounded = false, wide = false;

    struct Maps {
        const Grid* grid;
        long long n;
    };

    Maps sample(long long n) const { return {this, n}; }

    double x(long long n, int x, int y) const {
        const double value = scale_x * read(map_x, n * map_x.n + y * map_x.y + x * map_x.x);
        return relative ? value + x : value;
    }

    double y(long long n, int x, int y) const {
        const double value = scale_y * read(map_y, n * map_y.n + y * map_y.y + x * map_y.x);
        return relative ? value + y : value;
    }

    // Where a tile lies in the output, and what its coordinates count from. They are worked out where maps are read: gpu/maps.cuh, cpu/tile.hpp.
    template <class R>
    struct Local {
        static constexpr bool linear = false;

        int base_x, base_y;
        long long n;
        int left, top;

        // Of no box, as the bounds are not known.
        Local from(int, int, R) const { return *this; }

        bool bounds(int, int, Bounds<R>&) const { return false; }
    };

    // Counted from a base far outside the image, a coordinate that lies within would lose its fraction. What float32 maps have needs none, and displacements the place that
    // they start from; neighbours in a map of float64 may lie anywhere.
    template <class R>
    static Local<R> local(const Maps& maps, int x, int y) {
        const Grid& grid = *maps.grid;
        const bool doubles = grid.map_x.is_double || grid.map_y.is_double;
        const int base_x = doubles ? whole(grid.x(maps.n, x, y)) : grid.relative ? x : 0, base_y = doubles ? whole(grid.y(maps.n, x, y)) : grid.relative ? y : 0;
        return {within(base_x, grid.in_width), within(base_y, grid.in_height), maps.n, x, y};
    }

    static int within(int i, int n) { return i < 0 ? 0 : i < n ? i : n; }
};

// The same, for which the GPU counts coordinates in double precision, and elements in 64 bits: maps of float64, and images that are too large, or turned over in memory.
struct WideGrid : Grid {
    static constexpr bool wide = true;
};

}  // namespace cuaug
