#pragma once

#include "dispatch_functor.hpp"
#include "pixel_io.hpp"
#include "coordinate_tile.hpp"

// The box of the input that a tile needs, copied once with the border resolved, and what samplers see of it.

namespace cuaug {

constexpr int max_box_bytes = 1 << 18, max_box_side = 4096;

inline int border_index(native::Border border, int i, int n) {
    return dispatch_border(border, [&](auto kind) { return decltype(kind)::resolve(i, n); });
}

struct SourceBox {
    int x, y, width, height;  // in base coordinates
    int pitch;                // pixels
};

// The pixels a tile needs; no width if they are unknown or too many.
template <class R>
inline SourceBox source_box_of(const CoordinateTile<R>& tile, int before, int after, int pixel_bytes) {
    if (!tile.is_near_base) return {};
    const R slack = R(1.0 / 256);
    const int x = static_cast<int>(floor(tile.bounds.x_low)) - before,
              y = static_cast<int>(floor(tile.bounds.y_low)) - before;
    const int width = static_cast<int>(floor(tile.bounds.x_high + slack)) + after + 1 - x;
    const int height = static_cast<int>(floor(tile.bounds.y_high + slack)) + after + 1 - y;
    if (width > max_box_side || height > max_box_side ||
        static_cast<long long>(width) * height * pixel_bytes > max_box_bytes)
        return {};
    return {x, y, width, height, width};
}

// Fills the box's pixels: `load(row, first, count, to)` for a run of a row, `fill(to, count)` for what a constant
// border hides.
template <class P, int K, class Load, class Fill>
inline void stage_box(const WarpCommon& args, native::Border border, const SourceBox& box, int base_x, int base_y,
                      P* pixels, const Load& load, const Fill& fill) {
    const int first = base_x + box.x;
    const int from = first < 0 ? (-first < box.width ? -first : box.width) : 0;
    int to = args.in_width - first < box.width ? args.in_width - first : box.width;
    if (to < from) to = from;
    for (int y = 0; y < box.height; ++y) {
        P* at = pixels + static_cast<long long>(K) * y * box.pitch;
        const int row = border_index(border, base_y + box.y + y, args.in_height);
        if (row < 0) {
            fill(at, box.width);
            continue;
        }
        if (to > from) load(row, first + from, to - from, at + K * from);
        if (border == border_of<Constant>) {
            fill(at, from);
            fill(at + K * to, box.width - to);
        } else {
            for (int x = 0; x < from; ++x) load(row, border_index(border, first + x, args.in_width), 1, at + K * x);
            for (int x = to; x < box.width; ++x)
                load(row, border_index(border, first + x, args.in_width), 1, at + K * x);
        }
    }
}

// What a sampler sees of the staged box, counting from its corner.
template <class R>
struct StagedBox {
    const R* pixels;
    int pitch;

    static int split_floor(R x, R& fraction) { return cuaug::split_floor(x, fraction); }

    Pixel<R, 4> pixel(int x, int y) const {
        Pixel<R, 4> out;
        memcpy(&out, pixels + 4 * (y * pitch + x), sizeof(out));
        return out;
    }
};

// What a sampler sees of the image itself, where no box can be staged.
template <class T>
struct DirectImage {
    using R = ComputeType<T>;
    ChannelGroup plane;
    native::Border border;
    int height, width, base_x, base_y;
    Pixel<R, 4> fill;

    static int split_floor(R x, R& fraction) { return cuaug::split_floor(x, fraction); }

    Pixel<R, 4> raw_pixel(int x, int y) const {
        int column = base_x + x, row = base_y + y;
        if (column < 0 || column >= width) column = border_index(border, column, width);
        if (row < 0 || row >= height) row = border_index(border, row, height);
        if (column < 0 || row < 0) return fill;
        const T* at = reinterpret_cast<const T*>(plane.data) + row * plane.y_stride + column * plane.x_stride;
        Pixel<R, 4> out;
        for (int k = 0; k < 4; ++k) out.c[k] = to_compute<R>(at[plane.offset[k]]);
        return out;
    }

    Pixel<R, 4> pixel(int x, int y) const { return raw_pixel(x, y); }
};

}  // namespace cuaug
