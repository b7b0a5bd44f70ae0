#pragma once

#include "dispatch_functor.hpp"
#include "pixel_io.hpp"
#include "coordinate_tile.hpp"

// The source box of a tile, staged with the border applied, and the image types that samplers read from.

namespace cuaug {

constexpr int max_box_bytes = 1 << 18, max_box_side = 4096;

inline int resolve_border(native::Border border, int i, int n) {
    return dispatch_border(border, [&](auto kind) { return decltype(kind)::resolve(i, n); });
}

struct SourceBox {
    int x, y;  // its first pixel, counted from the tile's (base_x, base_y)
    int width, height;
    int pitch;  // pixels from row to row
};

// The source box of a tile; its width is 0 if the box is too large or the tile is not near its base (`is_near_base`).
template <class R>
inline SourceBox source_box_of(const CoordinateTile<R>& tile, int taps_before, int taps_after, int pixel_bytes) {
    if (!tile.is_near_base) return {};
    // Subtracting the corner of the box may round a coordinate up to the next pixel, but never below the first one.
    const R slack = R(1.0 / 256);
    const int x = static_cast<int>(floor(tile.bounds.x_low)) - taps_before,
              y = static_cast<int>(floor(tile.bounds.y_low)) - taps_before;
    const int width = static_cast<int>(floor(tile.bounds.x_high + slack)) + taps_after + 1 - x;
    const int height = static_cast<int>(floor(tile.bounds.y_high + slack)) + taps_after + 1 - y;
    if (width > max_box_side || height > max_box_side ||
        static_cast<long long>(width) * height * pixel_bytes > max_box_bytes)
        return {};
    return {x, y, width, height, width};
}

// Fills the box's pixels, of K numbers each. Calls `load(row, first, count, out)` for adjacent pixels of a row, and
// `fill(out, count)` for pixels outside the image if the border is constant.
template <class P, int K, class Load, class Fill>
inline void stage_box(const WarpRecordBase& args, native::Border border, const SourceBox& box, int base_x, int base_y,
                      P* pixels, const Load& load, const Fill& fill) {
    const int first = base_x + box.x;
    // Columns begin .. end - 1 of the box lie inside the image.
    const int begin = first < 0 ? min(-first, box.width) : 0, end = max(min(args.in_width - first, box.width), begin);
    for (int y = 0; y < box.height; ++y) {
        P* out = pixels + static_cast<long long>(K) * y * box.pitch;
        const int row = resolve_border(border, base_y + box.y + y, args.in_height);
        if (row < 0) {
            fill(out, box.width);
            continue;
        }
        if (end > begin) load(row, first + begin, end - begin, out + K * begin);
        if (border == border_of<Constant>) {
            fill(out, begin);
            fill(out + K * end, box.width - end);
        } else {
            dispatch_border(border, [&](auto kind) {
                auto load_outside = [&](int x) {
                    load(row, decltype(kind)::resolve(first + x, args.in_width), 1, out + K * x);
                };
                for (int x = 0; x < begin; ++x) load_outside(x);
                for (int x = end; x < box.width; ++x) load_outside(x);
            });
        }
    }
}

// A staged source box. Coordinates count from its first pixel.
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

// Reads the input directly: for Nearest, and for tiles whose source box cannot be staged. Coordinates count from
// (base_x, base_y).
template <class T>
struct DirectImage {
    using R = ComputeType<T>;
    ChannelGroup group;
    native::Border border;
    int height, width, base_x, base_y;
    Pixel<R, 4> fill;

    static int split_floor(R x, R& fraction) { return cuaug::split_floor(x, fraction); }

    // `Nearest` calls `raw_pixel`, which returns stored elements on a GPU (samplers/image.cuh) but converts them here.
    Pixel<R, 4> raw_pixel(int x, int y) const {
        int column = base_x + x, row = base_y + y;
        if (column < 0 || column >= width) column = resolve_border(border, column, width);
        if (row < 0 || row >= height) row = resolve_border(border, row, height);
        if (column < 0 || row < 0) return fill;
        const T* in = reinterpret_cast<const T*>(group.data) + row * group.y_stride + column * group.x_stride;
        Pixel<R, 4> out;
        for (int k = 0; k < 4; ++k) out.c[k] = to_compute<R>(in[group.offset[k]]);
        return out;
    }

    Pixel<R, 4> pixel(int x, int y) const { return raw_pixel(x, y); }
};

}  // namespace cuaug
