#pragma once

#include "../geometry/grid.cuh"
#include "layout.cuh"

// Maps of coordinates on their way to the pixels.

namespace cuaug {

// What float32 maps have for a thread's four pixels of a row: all are asked for before one is needed.
struct Entries {
    float x[4], y[4];
};

// The maps of a tile, as far as a thread reads them: four pixels of a row, `apart` columns from one to the next, from a column on. `doubles`: in double precision, one by one.
template <class R, bool doubles, int apart>
struct Maps {
    const Grid& grid;
    const Grid::Local<R>& tile;
    int column, width, rows;
    const char *x, *y;  // of float32 maps: the entries of the thread's first pixel of the tile's first row

    Maps(const Grid& grid, const Grid::Local<R>& tile, int column, int width, int rows)
        : grid(grid), tile(tile), column(column), width(width), rows(rows), x(first(grid.map_x)), y(first(grid.map_y)) {
        if constexpr (!doubles) asm volatile("" : "+l"(x), "+l"(y));  // or it is all worked out again in each turn
    }

    const char* first(const Table& map) const {
        return reinterpret_cast<const char*>(static_cast<const float*>(map.data) + tile.n * map.n + tile.top * map.y + (tile.left + column) * map.x);
    }

    // Patches are made whole, but maps may end where the tile does: what sticks out has its last row's entries, and behind a row zeros.
    Entries row(int y) const {
        Entries out = {};
        if constexpr (!doubles) {
            auto begin = [&](const char* first, const Table& map) {
                const char* begin = first + wide(min(y, rows - 1), 4 * static_cast<int>(map.y));
                asm("" : "+l"(begin));
                __builtin_assume(__isGlobal(begin));
                return begin;
            };
            auto entry = [](const char* begin, int i, const Table& map) { return *reinterpret_cast<const float*>(begin + 4 * apart * i * static_cast<int>(map.x)); };
            const char *in_x = begin(x, grid.map_x), *in_y = begin(this->y, grid.map_y);
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (column + apart * i < width) out.x[i] = entry(in_x, i, grid.map_x), out.y[i] = entry(in_y, i, grid.map_y);
        }
        return out;
    }

    // Where number i of the four, in row y, comes from.
    Point<R> point(const Entries& entries, int i, int y) const {
        const int right = column + apart * i;
        if constexpr (doubles) {
            const int left = tile.left + min(right, width - 1), top = tile.top + min(y, rows - 1);
            return {static_cast<R>(grid.x(tile.n, left, top) - tile.base_x), static_cast<R>(grid.y(tile.n, left, top) - tile.base_y)};
        } else {
            auto place = [&](int from, int begin, int base) { return fma(grid.step, static_cast<float>(from), static_cast<float>((grid.relative ? begin : 0) - base)); };
            return {fma(entries.x[i], grid.unit_x, place(right, tile.left, tile.base_x)), fma(entries.y[i], grid.unit_y, place(y, tile.top, tile.base_y))};
        }
    }
};

}  // namespace cuaug
