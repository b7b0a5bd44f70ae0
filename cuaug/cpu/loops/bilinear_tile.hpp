#pragma once

#include "source_box.hpp"
#include "bilinear_rgba32.hpp"
#include "bilinear_planes.hpp"

// Bilinear tiles: bytes as words, all else plane by plane in float32.

namespace cuaug {

// The memory of a task.
template <class R>
struct TileWorkspace {
    alignas(64) R x[tile_pixels];
    alignas(64) R y[tile_pixels];
    alignas(64) R result[4 * tile_pixels];
    alignas(64) R scratch[4 * max_box_side + 16];
    alignas(64) unsigned char box[max_box_bytes + 64];
};
static_assert(sizeof(TileWorkspace<double>) <= native::workspace_bytes, "the workspace holds a task's memory");

inline void warp_tile_u8(const native::WarpCall& call, const WarpCommon& args, const CoordinateTile<float>& tile,
                         const SourceBox& box, int c, TileWorkspace<float>& workspace) {
    const ChannelGroup in = channel_group<uint8>(args.in, tile.n, tile.t, c, args.channels),
                       out = channel_group<uint8>(args.out, tile.n, tile.t, c, args.channels);
    const Rgba32 fill = rgba32_of(fill_pixel<uint8>(args.fill, tile.n, c, args.channels));
    Rgba32 *pixels = reinterpret_cast<Rgba32*>(workspace.box), *result = reinterpret_cast<Rgba32*>(workspace.result);
    stage_box<Rgba32, 1>(
        args, call.border, box, tile.base_x, tile.base_y, pixels,
        [&](int row, int first, int count, Rgba32* to) { load_rgba32(in, row, first, count, to); },
        [&](Rgba32* to, int count) {
            for (int i = 0; i < count; ++i) to[i] = fill;
        });
    for (int dy = 0; dy < tile.height; ++dy) {
        const int i = dy * tile_width;
        bilinear_rgba32(pixels, box.pitch, tile.x + i, tile.y + i, static_cast<float>(box.x), static_cast<float>(box.y),
                        tile.padded(), result);
        store_rgba32(result, tile.width, out, tile.top + dy, tile.left);
    }
}

inline int clip(int i, int high) { return i < 0 ? 0 : i < high ? i : high; }

template <class T>
inline void warp_tile_planes(const native::WarpCall& call, const WarpCommon& args, const CoordinateTile<float>& tile,
                             const SourceBox& box, int c, TileWorkspace<float>& workspace) {
    const ChannelGroup in = channel_group<T>(args.in, tile.n, tile.t, c, args.channels);
    const int left = tile.base_x + box.x, top = tile.base_y + box.y;
    const T* corner = reinterpret_cast<const T*>(in.data) + top * in.y_stride + left * in.x_stride;
    const float* from[4] = {};
    int pitch = box.pitch;
    const bool inside =
        left >= 0 && top >= 0 && left + box.width <= args.in_width && top + box.height <= args.in_height;
    const long long reach = in.y_stride * box.height;
    if (is_same_v<T, float> && inside && in.x_stride == 1 && reach > -(1 << 30) && reach < 1 << 30) {
        pitch = static_cast<int>(in.y_stride);
        for (int k = 0; k < in.channels; ++k) from[k] = reinterpret_cast<const float*>(corner + in.offset[k]);
        if (tile.left + tile.width < tile.right) {
            const int last = tile.width - 1;
            const int x = clip(left + static_cast<int>(tile.x[last] - tile.x[0]), args.in_width - box.width);
            const int y = clip(top + static_cast<int>(tile.y[last] - tile.y[0]), args.in_height - box.height);
            for (int k = 0; k < in.channels; ++k)
                prefetch_rows(reinterpret_cast<const float*>(in.data) + in.offset[k] + y * in.y_stride + x,
                              4 * in.y_stride, box.height, 4 * box.width);
        }
    } else {
        const Pixel<float, 4> fill = fill_pixel<T>(args.fill, tile.n, c, args.channels);
        for (int k = 0; k < in.channels; ++k) {
            float* pixels = reinterpret_cast<float*>(workspace.box) + k * box.pitch * box.height;
            from[k] = pixels;
            stage_box<float, 1>(
                args, call.border, box, tile.base_x, tile.base_y, pixels,
                [&](int row, int first, int count, float* to) {
                    load_row(
                        reinterpret_cast<const T*>(in.data) + in.offset[k] + row * in.y_stride + first * in.x_stride,
                        in.x_stride, count, to);
                },
                [&](float* to, int count) {
                    for (int i = 0; i < count; ++i) to[i] = fill.c[k];
                });
        }
    }
    dispatch_image_dtype(call.target, [&](auto element) {
        using U = decltype(element);
        const ChannelGroup out = channel_group<U>(args.out, tile.n, tile.t, c, args.channels);
        const bool straight = is_same_v<U, float> && out.x_stride == 1 && tile.width == tile.padded();
        for (int dy = 0; dy < tile.height; ++dy) {
            U* at = reinterpret_cast<U*>(out.data) + (tile.top + dy) * out.y_stride + tile.left * out.x_stride;
            float* to[4];
            for (int k = 0; k < in.channels; ++k)
                to[k] = straight ? reinterpret_cast<float*>(at + out.offset[k]) : workspace.result + k * tile_width;
            bilinear_planes(from, in.channels, pitch, tile.x + dy * tile_width, tile.y + dy * tile_width,
                            static_cast<float>(box.x), static_cast<float>(box.y), tile.padded(), to);
            for (int k = 0; k < in.channels && !straight; ++k)
                store_row(to[k], tile.width, at + out.offset[k], out.x_stride);
        }
    });
}

}  // namespace cuaug
