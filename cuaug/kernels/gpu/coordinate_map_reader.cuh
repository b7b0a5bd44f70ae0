#pragma once

#include "geometry/coordinate_map.cuh"
#include "gpu/wide_multiply.cuh"
#include "gpu/word_pixel.cuh"

namespace cuaug {

// Reads a thread's entries of coordinate maps: in each row of the tile four columns, `column_step` apart. `is_64bit`:
// entries are read one by one, and coordinates are computed in double precision.
template <class R, bool is_64bit, int column_step>
struct CoordinateMapReader {
    // Entries of float32 maps for the four columns: all are loaded before the first is used.
    struct RowEntries {
        float x[4], y[4];
    };

    const CoordinateMap& map;
    const CoordinateMap::TileMap<R>& tile;
    int column;       // the first of the four, counted from the tile's first
    int width, rows;  // of the tile
    // Addresses of the entries for the first of the four columns in the tile's first row; null if `is_64bit`.
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

    // The 32 threads of a warp sample whole patches of 8x4 pixels, but maps may end with the tile: rows below the tile
    // get the entries of its last row, columns to the right of the tile get zeros.
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

    // Source coordinates of the pixel in row y and in column i of the four.
    Point<R> point(const RowEntries& entries, int i, int y) const {
        const int x = column + column_step * i;
        if constexpr (is_64bit) {
            const int left = tile.left + min(x, width - 1), top = tile.top + min(y, rows - 1);
            return {static_cast<R>(map.x(tile.n, left, top) - tile.base_x),
                    static_cast<R>(map.y(tile.n, left, top) - tile.base_y)};
        } else {
            // A displacement is added to the index of the pixel; `relative_float32` is then 1, and 0 for positions.
            auto origin = [&](int index) { return map.relative_float32 * static_cast<float>(index); };
            return {fma(entries.x[i], map.scale_x_float32, origin(tile.left - tile.base_x + x)),
                    fma(entries.y[i], map.scale_y_float32, origin(tile.top - tile.base_y + y))};
        }
    }
};

}  // namespace cuaug
