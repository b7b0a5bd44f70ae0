#pragma once

#include "borders/border.cuh"
#include "geometry/tile_map.cuh"
#include "pixel.cuh"

namespace cuaug {

// The part of a frame that counts as the image: rows top .. top + height - 1, columns
// left .. left + width - 1.
struct ImageWindow {
    int top, left, height, width;
};

// K channels of one frame in memory, with a border around it: a pixel index may lie outside. The base, `base_x` and
// `base_y`, is added to the index first, so that samplers work in the small coordinates of a tile.
template <class T, int K, class Border>
struct Image {
    const T* data;  // [H, W]; channel k at offset[k]
    long long offset[K];
    int y_stride;
    int x_stride;
    ImageWindow window;
    int frame_width;
    int base_x;
    int base_y;
    RawPixel<T, K> fill;

    // Whether a point, counted from the base, is within coordinate_limit of the base and of the first pixel. A border
    // that fills needs only the distance from the base: it gives the fill to a point far from the first pixel anyway.
    template <class R>
    bool is_in_range(const Point<R>& p) const {
        if constexpr (is_fill_border<Border>)
            return in_range(p);
        else
            return in_range(p.x, base_x) & in_range(p.y, base_y);
    }

    int left() const { return Border::has_window ? window.left : 0; }
    int top() const { return Border::has_window ? window.top : 0; }

    const T* address(int column, int row) const {
        return data + static_cast<long long>(row) * y_stride + static_cast<long long>(column) * x_stride;
    }

    // The column or row of the frame that the border resolves to, or -1.
    int column_of(int x) const {
        const int column = Border::resolve(base_x + x - left(), window.width);
        return column < 0 ? column : left() + column;
    }

    int row_of(int y) const {
        const int row = Border::resolve(base_y + y - top(), window.height);
        return row < 0 ? row : top() + row;
    }

    RawPixel<T, K> raw_pixel(int x, int y) const {
        const int column = column_of(x), row = row_of(y);
        if (column < 0 || row < 0) return fill;
        RawPixel<T, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = address(column, row)[offset[k]];
        return out;
    }

    // A member because StagedBox (gpu/stage.cuh) has a faster one of its own.
    static int split_floor(ComputeType<T> x, ComputeType<T>& fraction) { return cuaug::split_floor(x, fraction); }

    Pixel<ComputeType<T>, K> pixel(int x, int y) const { return to_pixel<ComputeType<T>>(raw_pixel(x, y)); }
};

}  // namespace cuaug
