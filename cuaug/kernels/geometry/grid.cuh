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
    int relative;        // the maps hold displacements from the output pixel
    int in_height;
    int in_width;

    static constexpr bool bounded = false;

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

    // Input coordinate, less the base, of the pixel (dx, dy) away from the tile's origin.
    template <class R>
    struct Local {
        static constexpr bool linear = false;

        int base_x, base_y;
        const Grid* grid;
        long long n;
        int left, top;

        Point<R> at(R dx, R dy) const {
            const int x = left + static_cast<int>(dx), y = top + static_cast<int>(dy);
            return {static_cast<R>(grid->x(n, x, y) - base_x), static_cast<R>(grid->y(n, x, y) - base_y)};
        }

        // The same coordinates, counted from another pixel of the input.
        Local from(int x, int y, R) const { return {base_x + x, base_y + y, grid, n, left, top}; }

        bool bounds(int, int, Bounds<R>&) const { return false; }
    };

    // Neighbours in a map may lie anywhere: counted from a base far outside the image, one that lies within would lose its fraction.
    template <class R>
    static Local<R> local(const Maps& maps, int x, int y) {
        const Grid& grid = *maps.grid;
        return {within(whole(grid.x(maps.n, x, y)), grid.in_width), within(whole(grid.y(maps.n, x, y)), grid.in_height), &grid, maps.n, x, y};
    }

    static int within(int i, int n) { return i < 0 ? 0 : i < n ? i : n; }
};

}  // namespace cuaug
