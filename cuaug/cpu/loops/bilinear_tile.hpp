#pragma once

#include "source_box.hpp"
#include "bilinear_rgba32.hpp"
#include "bilinear_planes.hpp"

// Bilinear sampling of a tile, for all input dtypes but float64: from uint8 to uint8 as four-byte pixels, otherwise
// plane by plane in float32.

namespace cuaug {

template <class R>
struct TileWorkspace {
    alignas(64) R x[tile_pixels];
    alignas(64) R y[tile_pixels];
    alignas(64) R result[4 * tile_pixels];
    alignas(64) R scratch[4 * max_box_side];
    alignas(64) unsigned char box[max_box_bytes + 64];  // the last pixels are read as vectors of 16 bytes
};
static_assert(sizeof(TileWorkspace<double>) <= native::workspace_bytes);

inline void warp_tile_u8(const native::WarpCall& call, const WarpRecordBase& args, const CoordinateTile<float>& tile,
                         const SourceBox& box, int c, TileWorkspace<float>& workspace) {
    const ChannelGroup in = channel_group<uint8>(args.in, tile.n, tile.t, c, args.channels),
                       out = channel_group<uint8>(args.out, tile.n, tile.t, c, args.channels);
    const Rgba32 fill = rgba32_of(fill_pixel<uint8>(args.fill, tile.n, c, args.channels));
    Rgba32 *pixels = reinterpret_cast<Rgba32*>(workspace.box), *result = reinterpret_cast<Rgba32*>(workspace.result);
    stage_box<Rgba32, 1>(
        args, call.border, box, tile.base_x, tile.base_y, pixels,
        [&](int row, int first, int count, Rgba32* row_pixels) { load_rgba32(in, row, first, count, row_pixels); },
        [&](Rgba32* row_pixels, int count) {
            for (int i = 0; i < count; ++i) row_pixels[i] = fill;
        });
    for (int dy = 0; dy < tile.height; ++dy) {
        const int i = dy * tile_width;
        bilinear_rgba32(pixels, box.pitch, tile.x + i, tile.y + i, static_cast<float>(box.x), static_cast<float>(box.y),
                        tile.padded_width(), result);
        store_rgba32(result, tile.width, out, tile.top + dy, tile.left);
    }
}

// The source box of a tile, as one plane per channel.
struct BoxPlanes {
    const float* plane[4];
    int pitch;
};

// Prefetches the source box of the next tile. Its distance from this tile's box is assumed to be the distance between
// the source positions of the first and the last pixel of the tile's first row.
inline void prefetch_next_box(const WarpRecordBase& args, const ChannelGroup& in, const CoordinateTile<float>& tile,
                              const SourceBox& box) {
    auto clip = [](int i, int high) { return i < 0 ? 0 : i < high ? i : high; };
    const int left = tile.base_x + box.x, top = tile.base_y + box.y, last = tile.width - 1;
    const int x = clip(left + static_cast<int>(tile.x[last] - tile.x[0]), args.in_width - box.width);
    const int y = clip(top + static_cast<int>(tile.y[last] - tile.y[0]), args.in_height - box.height);
    for (int k = 0; k < in.channels; ++k)
        prefetch_rows(reinterpret_cast<const float*>(in.data) + in.offset[k] + y * in.y_stride + x, 4 * in.y_stride,
                      box.height, 4 * box.width);
}

// Returns the planes of the source box. float32 planes with adjacent columns are read in place if the box lies inside
// the image; all others are staged.
template <class T>
inline BoxPlanes stage_planes(const native::WarpCall& call, const WarpRecordBase& args,
                              const CoordinateTile<float>& tile, const ChannelGroup& in, const SourceBox& box, int c,
                              TileWorkspace<float>& workspace) {
    BoxPlanes out = {{}, box.pitch};
    const int left = tile.base_x + box.x, top = tile.base_y + box.y;
    const bool inside =
        left >= 0 && top >= 0 && left + box.width <= args.in_width && top + box.height <= args.in_height;
    const long long extent = in.y_stride * box.height;  // must fit the 32-bit offsets of bilinear_planes
    if (is_same_v<T, float> && inside && in.x_stride == 1 && extent > -(1 << 30) && extent < 1 << 30) {
        const T* corner = reinterpret_cast<const T*>(in.data) + top * in.y_stride + left * in.x_stride;
        out.pitch = static_cast<int>(in.y_stride);
        for (int k = 0; k < in.channels; ++k) out.plane[k] = reinterpret_cast<const float*>(corner + in.offset[k]);
        if (tile.left + tile.width < tile.task_right) prefetch_next_box(args, in, tile, box);
        return out;
    }
    const Pixel<float, 4> fill = fill_pixel<T>(args.fill, tile.n, c, args.channels);
    for (int k = 0; k < in.channels; ++k) {
        float* staged = reinterpret_cast<float*>(workspace.box) + k * box.pitch * box.height;
        out.plane[k] = staged;
        stage_box<float, 1>(
            args, call.border, box, tile.base_x, tile.base_y, staged,
            [&](int row, int first, int count, float* values) {
                load_row(reinterpret_cast<const T*>(in.data) + in.offset[k] + row * in.y_stride + first * in.x_stride,
                         in.x_stride, count, values);
            },
            [&](float* values, int count) {
                for (int i = 0; i < count; ++i) values[i] = fill.c[k];
            });
    }
    return out;
}

template <class T>
inline void warp_tile_planes(const native::WarpCall& call, const WarpRecordBase& args,
                             const CoordinateTile<float>& tile, const SourceBox& box, int c,
                             TileWorkspace<float>& workspace) {
    const ChannelGroup in = channel_group<T>(args.in, tile.n, tile.t, c, args.channels);
    const BoxPlanes staged = stage_planes<T>(call, args, tile, in, box, c, workspace);
    dispatch_image_dtype(call.out_dtype, [&](auto element) {
        using U = decltype(element);
        const ChannelGroup out = channel_group<U>(args.out, tile.n, tile.t, c, args.channels);
        // Whether bilinear_planes stores into the output; otherwise into the workspace, and rows are converted.
        const bool writes_output = is_same_v<U, float> && out.x_stride == 1 && tile.width == tile.padded_width();
        for (int dy = 0; dy < tile.height; ++dy) {
            U* out_row = reinterpret_cast<U*>(out.data) + (tile.top + dy) * out.y_stride + tile.left * out.x_stride;
            float* result[4];
            for (int k = 0; k < in.channels; ++k)
                result[k] = writes_output ? reinterpret_cast<float*>(out_row + out.offset[k])
                                          : workspace.result + k * tile_width;
            bilinear_planes(staged.plane, in.channels, staged.pitch, tile.x + dy * tile_width, tile.y + dy * tile_width,
                            static_cast<float>(box.x), static_cast<float>(box.y), tile.padded_width(), result);
            for (int k = 0; k < in.channels && !writes_output; ++k)
                store_row(result[k], tile.width, out_row + out.offset[k], out.x_stride);
        }
    });
}

}  // namespace cuaug
