#pragma once

#include "geometry/coordinate_map.cuh"
#include "gpu/word_pixel.cuh"

// Reads coordinate maps.

namespace cuaug {

// The entries of a tile's maps that a thread reads: four columns of each row, `column_step` apart. `is_64bit`: one by
// one, in double precision.
template <class R, bool is_64bit, int column_step>
struct CoordinateMapReader {
    // Entries of float32 maps for the four columns: all are loaded before one is used.
    struct RowEntries {
        float x[4], y[4];
    };

    const CoordinateMap& grid;
    const CoordinateMap::TileMap<R>& tile;
    int column, width, rows;
    const char *first_x, *first_y;  // of float32 maps at the first of the four columns, in the tile's first row

    CoordinateMapReader(const CoordinateMap& grid, const CoordinateMap::TileMap<R>& tile, int column, int width,
                        int rows)
        : grid(grid),
          tile(tile),
          column(column),
          width(width),
          rows(rows),
          first_x(first(grid.map_x)),
          first_y(first(grid.map_y)) {}

    const char* first(const ParameterTable& map) const {
        if constexpr (is_64bit)
            return nullptr;
        else
            return opaque(reinterpret_cast<const char*>(static_cast<const float*>(map.data) + tile.n * map.n +
                                                        tile.top * map.y + (tile.left + column) * map.x));
    }

    // Patches are sampled whole, but maps may end with the tile: rows below it get its last row's entries, columns
    // beyond it zeros.
    RowEntries row(int y) const {
        RowEntries out = {};
        if constexpr (!is_64bit) {
            auto line = [&](const char* first, const ParameterTable& map) {
                const char* line = first + mul_wide(min(y, rows - 1), 4 * static_cast<int>(map.y));
                asm("" : "+l"(line));  // computed once for all four columns
                __builtin_assume(__isGlobal(line));
                return line;
            };
            auto entry = [&](const char* line, int i, const ParameterTable& map) {
                return *reinterpret_cast<const float*>(line + 4 * column_step * i * static_cast<int>(map.x));
            };
            const char *line_x = line(first_x, grid.map_x), *line_y = line(first_y, grid.map_y);
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (column + column_step * i < width)
                    out.x[i] = entry(line_x, i, grid.map_x), out.y[i] = entry(line_y, i, grid.map_y);
        }
        return out;
    }

    // Source coordinates of column number i of the four, in row y.
    Point<R> point(const RowEntries& entries, int i, int y) const {
        const int x = column + column_step * i;
        if constexpr (is_64bit) {
            const int left = tile.left + min(x, width - 1), top = tile.top + min(y, rows - 1);
            return {static_cast<R>(grid.x(tile.n, left, top) - tile.base_x),
                    static_cast<R>(grid.y(tile.n, left, top) - tile.base_y)};
        } else {
            // Displacements start at the pixel; positions, whose base is 0, at 0.
            auto begin = [&](int place) { return grid.step * static_cast<float>(place); };
            return {fma(entries.x[i], grid.unit_x, begin(tile.left - tile.base_x + x)),
                    fma(entries.y[i], grid.unit_y, begin(tile.top - tile.base_y + y))};
        }
    }
};

}  // namespace cuaug
