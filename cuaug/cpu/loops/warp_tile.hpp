#pragma once

#include "bilinear_tile.hpp"
#include "nearest_tile.hpp"

// A tile is computed in stages: the coordinates; the source box, in groups of four channels and with the border
// applied; the sampled pixels; the output. A stage passes its result on in memory that fits in the cache. Geometry,
// input dtype, sampler and output dtype are each a template argument of one stage only, so the number of compiled
// functions is the sum of their numbers, not the product. Two cases are compiled for pairs: DirectImage for input dtype
// and sampler, bilinear_tile.hpp for input and output dtype.

namespace cuaug {

template <class R, class Sampler, class Image>
inline void sample_tile(const Image& image, const CoordinateTile<R>& tile, R left, R top, const Pixel<R, 4>& fill,
                        R* __restrict__ pixels) {
    for (int dy = 0; dy < tile.height; ++dy)
        for (int dx = 0; dx < tile.width; ++dx) {
            const int i = dy * tile_width + dx;
            const Point<R> p = {tile.x[i] - left, tile.y[i] - top};
            const Pixel<R, 4> value =
                tile.is_near_base || is_in_range(tile, p) ? Sampler::template sample<R>(image, p) : fill;
            memcpy(pixels + 4 * i, &value, sizeof(value));
        }
}

template <class T>
inline void load_box(const native::WarpCall& call, const WarpRecordBase& args,
                     const CoordinateTile<ComputeType<T>>& tile, const SourceBox& box, int c,
                     const Pixel<ComputeType<T>, 4>& fill, TileWorkspace<ComputeType<T>>& workspace) {
    using R = ComputeType<T>;
    const ChannelGroup in = channel_group<T>(args.in, tile.n, tile.t, c, args.channels);
    stage_box<R, 4>(
        args, call.border, box, tile.base_x, tile.base_y, reinterpret_cast<R*>(workspace.box),
        [&](int row, int first, int count, R* pixels) {
            load_pixels<T>(in, row, first, count, pixels, workspace.scratch);
        },
        [&](R* pixels, int count) {
            for (int i = 0; i < count; ++i) memcpy(pixels + 4 * i, &fill, sizeof(fill));
        });
}

template <class T, class R>
inline void store_tile(const WarpRecordBase& args, const CoordinateTile<R>& tile, int c, TileWorkspace<R>& workspace) {
    const ChannelGroup out = channel_group<T>(args.out, tile.n, tile.t, c, args.channels);
    for (int dy = 0; dy < tile.height; ++dy)
        store_pixels<T>(workspace.result + 4 * dy * tile_width, tile.width, out, tile.top + dy, tile.left,
                        workspace.scratch);
}

// Samples all channels of one tile in the compute type R, and stores them.
template <class R>
inline void warp_tile_pixels(const native::WarpCall& call, const WarpRecordBase& args, const CoordinateTile<R>& tile,
                             TileWorkspace<R>& workspace) {
    const bool nearest = call.sampler == sampler_of<Nearest>;
    const bool is_bilinear_u8 =
        call.in_dtype == dtype_of<uint8> && call.out_dtype == dtype_of<uint8> && call.sampler == sampler_of<Bilinear>;
    SourceBox box = {};
    if (!nearest)
        box = dispatch_sampler(call.sampler, [&](auto sampler) {
            return source_box_of(tile, decltype(sampler)::taps_before, decltype(sampler)::taps_after,
                                 is_bilinear_u8 ? 4 : 4 * static_cast<int>(sizeof(R)));
        });
    const bool samples_planes =
        is_same_v<R, float> && call.sampler == sampler_of<Bilinear> && !is_bilinear_u8 && box.width > 0;
    for (int c = 0; c < args.channels; c += 4) {
        if constexpr (is_same_v<R, float>)
            if (is_bilinear_u8 && box.width > 0) {
                warp_tile_u8(call, args, tile, box, c, workspace);
                continue;
            }
        Pixel<R, 4> fill = {};
        dispatch_image_dtype(call.in_dtype, [&](auto element) {
            using T = decltype(element);
            if constexpr (is_same_v<ComputeType<T>, R>) {
                if constexpr (is_same_v<R, float>)
                    if (samples_planes) return warp_tile_planes<T>(call, args, tile, box, c, workspace);
                fill = fill_pixel<T>(args.fill, tile.n, c, args.channels);
                if (box.width > 0) {
                    load_box<T>(call, args, tile, box, c, fill, workspace);
                    return;
                }
                const DirectImage<T> image = {channel_group<T>(args.in, tile.n, tile.t, c, args.channels),
                                              call.border,
                                              args.in_height,
                                              args.in_width,
                                              tile.base_x,
                                              tile.base_y,
                                              fill};
                dispatch_sampler(call.sampler, [&](auto sampler) {
                    sample_tile<R, decltype(sampler)>(image, tile, R(0), R(0), fill, workspace.result);
                });
            }
        });
        if (samples_planes) continue;
        if (box.width > 0)
            dispatch_sampler(call.sampler, [&](auto sampler) {
                if constexpr (!is_same_v<decltype(sampler), Nearest>)
                    sample_tile<R, decltype(sampler)>(
                        StagedBox<R>{reinterpret_cast<const R*>(workspace.box), box.pitch}, tile, static_cast<R>(box.x),
                        static_cast<R>(box.y), fill, workspace.result);
            });
        dispatch_image_dtype(call.out_dtype,
                             [&](auto element) { store_tile<decltype(element)>(args, tile, c, workspace); });
    }
}

template <class R>
inline void warp_tile(const native::WarpCall& call, const WarpRecordBase& args, CoordinateTile<R> tile,
                      TileWorkspace<R>& workspace) {
    tile.x = workspace.x;
    tile.y = workspace.y;
    dispatch_geometry(call.geometry, [&](auto geometry) {
        using Geometry = decltype(geometry);
        // CoordinateMap64 has the fields of CoordinateMap, and the CPU reads both alike: one instance serves both.
        compute_coordinates<conditional_t<Geometry::has_tile_bounds, Geometry, CoordinateMap>>(call.record, tile);
    });
    if (call.sampler == sampler_of<Nearest> && call.in_dtype == call.out_dtype)
        copy_tile(call, args, tile, static_cast<void*>(workspace.box));
    else
        warp_tile_pixels(call, args, tile, workspace);
}

}  // namespace cuaug
