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

    const CoordinateMap& map;
    const CoordinateMap::TileMap<R>& tile;
    int column, width, rows;
    // Addresses in float32 maps of the entry for the first of the four columns, in the tile's first row.
    const char *first_x, *first_y;

    CoordinateMapReader(const CoordinateMap& map, const CoordinateMap::TileMap<R>& tile, int column, int width,
                        int rows)
        : map(map),
          tile(tile),
          column(column),
          width(width),
          rows(rows),
          first_x(first(map.map_x)),
          first_y(first(map.map_y)) {}

    const char* first(const ParameterTable& table) const {
        if constexpr (is_64bit)
            return nullptr;
        else
            return opaque(reinterpret_cast<const char*>(static_cast<const float*>(table.data) +
                                                        tile.n * table.n_stride + tile.top * table.y_stride +
                                                        (tile.left + column) * table.x_stride));
    }

    // A warp samples its whole patch of 8x4 pixels, but maps may end with the tile: rows below it get its last row's
    // entries, columns beyond it zeros.
    RowEntries row(int y) const {
        RowEntries out = {};
        if constexpr (!is_64bit) {
            auto line = [&](const char* first, const ParameterTable& table) {
                const char* line = first + mul_wide(min(y, rows - 1), 4 * static_cast<int>(table.y_stride));
                asm("" : "+l"(line));  // computed once for all four columns
                __builtin_assume(__isGlobal(line));
                return line;
            };
            auto entry = [&](const char* line, int i, const ParameterTable& table) {
                return *reinterpret_cast<const float*>(line + 4 * column_step * i * static_cast<int>(table.x_stride));
            };
            const char *line_x = line(first_x, map.map_x), *line_y = line(first_y, map.map_y);
#pragma unroll
            for (int i = 0; i < 4; ++i)
                if (column + column_step * i < width)
                    out.x[i] = entry(line_x, i, map.map_x), out.y[i] = entry(line_y, i, map.map_y);
        }
        return out;
    }

    // Source coordinates of column number i of the four, in row y.
    Point<R> point(const RowEntries& entries, int i, int y) const {
        const int x = column + column_step * i;
        if constexpr (is_64bit) {
            const int left = tile.left + min(x, width - 1), top = tile.top + min(y, rows - 1);
            return {static_cast<R>(map.x(tile.n, left, top) - tile.base_x),
                    static_cast<R>(map.y(tile.n, left, top) - tile.base_y)};
        } else {
            // A displacement (map.relative_float32 is 1) is added to the index of the pixel, a position (0) to 0.
            auto origin = [&](int index) { return map.relative_float32 * static_cast<float>(index); };
            return {fma(entries.x[i], map.scale_x_float32, origin(tile.left - tile.base_x + x)),
                    fma(entries.y[i], map.scale_y_float32, origin(tile.top - tile.base_y + y))};
        }
    }
};

}  // namespace cuaug
