#pragma once

#include "geometry/coordinate_map.cuh"
#include "gpu/word_pixel.cuh"

// Maps of coordinates on their way to the pixels.

namespace cuaug {

// A tile's maps, as far as a thread reads them: of its rows four columns each, `column_step` from one to the next.
// `is_64bit`: in double precision, one by one.
template <class R, bool is_64bit, int column_step>
struct CoordinateMapReader {
    // What float32 maps have for the four: all are asked for before one is needed.
    struct RowEntries {
        float x[4], y[4];
    };

    const CoordinateMap& grid;
    const CoordinateMap::TileMap<R>& tile;
    int column, width, rows;
    const char *first_x, *first_y;  // float32 maps at the first of the four, in the tile's first row

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

    // Patches are made whole, but maps may end with the tile: rows below it have its last one's entries, columns beyond
    // it zeros.
    RowEntries row(int y) const {
        RowEntries out = {};
        if constexpr (!is_64bit) {
            auto line = [&](const char* first, const ParameterTable& map) {
                const char* line = first + mul_wide(min(y, rows - 1), 4 * static_cast<int>(map.y));
                asm("" : "+l"(line));  // once for all four
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

    // Where number i of the four, in row y, comes from.
    Point<R> point(const RowEntries& entries, int i, int y) const {
        const int x = column + column_step * i;
        if constexpr (is_64bit) {
            const int left = tile.left + min(x, width - 1), top = tile.top + min(y, rows - 1);
            return {static_cast<R>(grid.x(tile.n, left, top) - tile.base_x),
                    static_cast<R>(grid.y(tile.n, left, top) - tile.base_y)};
        } else {
            // Displacements begin at the pixel; positions, whose base is 0, nowhere.
            auto begin = [&](int place) { return grid.step * static_cast<float>(place); };
            return {fma(entries.x[i], grid.unit_x, begin(tile.left - tile.base_x + x)),
                    fma(entries.y[i], grid.unit_y, begin(tile.top - tile.base_y + y))};
        }
    }
};

}  // namespace cuaug
