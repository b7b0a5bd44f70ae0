#pragma once

#include "copy_pixels.hpp"
#include "source_box.hpp"

// Nearest sampling to the same dtype by any geometry. Source offsets are computed first, and pixels are then copied
// without conversion.

namespace cuaug {

// The input as the image that Nearest samples: the value of a pixel is its offset in the frame, in bytes.
template <class Border, class Offset>
struct OffsetImage {
    int base_x, base_y, width, height;
    Offset column_step, row_step;

    Offset raw_pixel(int x, int y) const {
        const int column = Border::resolve(base_x + x, width), row = Border::resolve(base_y + y, height);
        const Offset offset = column * column_step + row * row_step;
        return (column | row) < 0 ? fill_offset<Offset> : offset;
    }
};

// The border of a tile whose source pixels all lie inside the image.
struct NoBorder {
    static int resolve(int i, int) { return i; }
};

template <class Border, class R, class Offset>
inline void resolve_offsets(const WarpRecordBase& args, const PixelCopy& copy, const CoordinateTile<R>& tile,
                            Offset* __restrict__ offset) {
    const OffsetImage<Border, Offset> image = {tile.base_x,
                                               tile.base_y,
                                               args.in_width,
                                               args.in_height,
                                               static_cast<Offset>(copy.in.column_stride),
                                               static_cast<Offset>(copy.in.row_stride)};
    for (int dy = 0; dy < tile.height; ++dy) {
        const R *x = tile.x + dy * tile_width, *y = tile.y + dy * tile_width;
        Offset* out = offset + dy * tile_width;
        if (tile.is_near_base)
            for (int i = 0; i < tile.width; ++i) out[i] = Nearest::sample(image, Point<R>{x[i], y[i]});
        else
            for (int i = 0; i < tile.width; ++i) {
                const Point<R> p = {x[i], y[i]};
                out[i] = is_in_range(tile, p) ? Nearest::sample(image, p) : fill_offset<Offset>;
            }
    }
}

template <class R, class Offset>
inline void resolve_offsets(native::Border border, const WarpRecordBase& args, const PixelCopy& copy,
                            const CoordinateTile<R>& tile, Offset* offset) {
    const SourceBox box = source_box_of(tile, Nearest::taps_before, Nearest::taps_after, 1);
    const int left = tile.base_x + box.x, top = tile.base_y + box.y;
    if (box.width > 0 && left >= 0 && top >= 0 && left + box.width <= args.in_width &&
        top + box.height <= args.in_height)
        return resolve_offsets<NoBorder>(args, copy, tile, offset);
    dispatch_border(border, [&](auto kind) { resolve_offsets<decltype(kind)>(args, copy, tile, offset); });
}

template <class Offset, class R>
inline void copy_tile(const native::WarpCall& call, const WarpRecordBase& args, const CoordinateTile<R>& tile,
                      Offset* offset) {
    for (int c = 0; c < args.channels; c += max_copy_channels) {
        const PixelCopy copy = pixel_copy(call.in_dtype, args, tile.n, tile.t, c);
        if (c == 0) resolve_offsets(call.border, args, copy, tile, offset);
        dispatch_unit_bytes(copy.unit_bytes, [&](auto size) {
            constexpr int bytes = decltype(size)::value;
            for (int k = 0; k < copy.units_per_pixel; ++k)
                for (int dy = 0; dy < tile.height; ++dy)
                    gather_units<bytes>(copy.in.data + k * copy.in.unit_stride, offset + dy * tile_width, tile.width,
                                        copy.out.data + k * copy.out.unit_stride +
                                            (tile.top + dy) * copy.out.row_stride + tile.left * copy.out.column_stride,
                                        copy.out.column_stride, copy.fill + k * bytes);
        });
    }
}

// Uses 32-bit offsets if they suffice: a vector holds twice as many of them.
template <class R>
inline void copy_tile(const native::WarpCall& call, const WarpRecordBase& args, const CoordinateTile<R>& tile,
                      void* memory) {
    auto magnitude = [](long long stride) { return static_cast<double>(stride < 0 ? -stride : stride); };
    // An element has at most 8 bytes, so offsets are below 2^31 bytes.
    if (magnitude(args.in.y_stride) * args.in_height + magnitude(args.in.x_stride) * args.in_width < 1 << 28)
        copy_tile(call, args, tile, static_cast<int*>(memory));
    else
        copy_tile(call, args, tile, static_cast<long long*>(memory));
}
static_assert(max_box_bytes >= tile_pixels * 8, "the offsets fit into the box");

}  // namespace cuaug
