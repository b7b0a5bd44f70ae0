#pragma once

#include "bilinear_tile.hpp"
#include "nearest_copy.hpp"
#include "bilinear_separable.hpp"

// A task makes a strip of the output tile by tile, and a tile stage by stage, each stage through memory that stays in
// the cache: coordinates; the box of the input they need, as groups of four channels with the border resolved; samples;
// output. Only a stage knows its own dimension: geometry, source dtype, sampler, target dtype.

namespace cuaug {

template <class R, class Sampler, class Image>
inline void sample(const Image& image, const CoordinateTile<R>& tile, R left, R top, const Pixel<R, 4>& fill,
                   R* __restrict__ pixels) {
    for (int dy = 0; dy < tile.height; ++dy)
        for (int dx = 0; dx < tile.width; ++dx) {
            const int i = dy * tile_width + dx;
            const Point<R> p = {tile.x[i] - left, tile.y[i] - top};
            const Pixel<R, 4> value =
                tile.is_near_base || inside(tile, p) ? Sampler::template sample<R>(image, p) : fill;
            memcpy(pixels + 4 * i, &value, sizeof(value));
        }
}

template <class T>
inline void load_box(const native::WarpCall& call, const WarpCommon& args, const CoordinateTile<ComputeType<T>>& tile,
                     const SourceBox& box, int c, const Pixel<ComputeType<T>, 4>& fill,
                     TileWorkspace<ComputeType<T>>& workspace) {
    using R = ComputeType<T>;
    const ChannelGroup in = channel_group<T>(args.in, tile.n, tile.t, c, args.channels);
    stage_box<R, 4>(
        args, call.border, box, tile.base_x, tile.base_y, reinterpret_cast<R*>(workspace.box),
        [&](int row, int first, int count, R* to) { load_pixels<T>(in, row, first, count, to, workspace.scratch); },
        [&](R* to, int count) {
            for (int i = 0; i < count; ++i) memcpy(to + 4 * i, &fill, sizeof(fill));
        });
}

template <class T, class R>
inline void store_tile(const WarpCommon& args, const CoordinateTile<R>& tile, int c, TileWorkspace<R>& workspace) {
    const ChannelGroup out = channel_group<T>(args.out, tile.n, tile.t, c, args.channels);
    for (int dy = 0; dy < tile.height; ++dy)
        store_pixels<T>(workspace.result + 4 * dy * tile_width, tile.width, out, tile.top + dy, tile.left,
                        workspace.scratch);
}

// One tile, all channels, through numbers of type R.
template <class R>
inline void warp_tile_pixels(const native::WarpCall& call, const WarpCommon& args, const CoordinateTile<R>& tile,
                             TileWorkspace<R>& workspace) {
    const bool nearest = call.sampler == sampler_of<Nearest>;
    const bool bytes =
        call.source == dtype_of<uint8> && call.target == dtype_of<uint8> && call.sampler == sampler_of<Bilinear>;
    SourceBox box = {};
    if (!nearest)
        box = dispatch_sampler(call.sampler, [&](auto sampler) {
            return source_box_of(tile, decltype(sampler)::taps_before, decltype(sampler)::taps_after,
                                 bytes ? 4 : 4 * static_cast<int>(sizeof(R)));
        });
    const bool planes = is_same_v<R, float> && call.sampler == sampler_of<Bilinear> && !bytes && box.width > 0;
    for (int c = 0; c < args.channels; c += 4) {
        if constexpr (is_same_v<R, float>)
            if (bytes && box.width > 0) {
                warp_tile_u8(call, args, tile, box, c, workspace);
                continue;
            }
        Pixel<R, 4> fill = {};
        dispatch_image_dtype(call.source, [&](auto element) {
            using T = decltype(element);
            if constexpr (is_same_v<ComputeType<T>, R>) {
                if constexpr (is_same_v<R, float>)
                    if (planes) return warp_tile_planes<T>(call, args, tile, box, c, workspace);
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
                    sample<R, decltype(sampler)>(image, tile, R(0), R(0), fill, workspace.result);
                });
            }
        });
        if (planes) continue;
        if (box.width > 0)
            dispatch_sampler(call.sampler, [&](auto sampler) {
                if constexpr (!is_same_v<decltype(sampler), Nearest>)
                    sample<R, decltype(sampler)>(StagedBox<R>{reinterpret_cast<const R*>(workspace.box), box.pitch},
                                                 tile, static_cast<R>(box.x), static_cast<R>(box.y), fill,
                                                 workspace.result);
            });
        dispatch_image_dtype(call.target,
                             [&](auto element) { store_tile<decltype(element)>(args, tile, c, workspace); });
    }
}

template <class R>
inline void warp_tile(const native::WarpCall& call, const WarpCommon& args, CoordinateTile<R> tile,
                      TileWorkspace<R>& workspace) {
    tile.x = workspace.x;
    tile.y = workspace.y;
    dispatch_geometry(call.geometry,
                      [&](auto geometry) { compute_coordinates<decltype(geometry)>(call.record, tile); });
    if (call.sampler == sampler_of<Nearest> && call.source == call.target)
        copy_tile(call, args, tile, static_cast<void*>(workspace.box));
    else
        warp_tile_pixels(call, args, tile, workspace);
}

// How the output is cut into tasks: even shares of the height, of at most 64 rows, and as much of a row as leaves
// enough tasks for the threads of any machine.
struct TaskGrid {
    int rows, columns, down, across;
};

inline TaskGrid task_grid(const WarpCommon& args) {
    auto share = [](int n, int parts) { return (n + parts - 1) / parts; };
    const int rows = share(args.out_height, share(args.out_height, tile_height)), down = share(args.out_height, rows);
    const long long tiles = args.samples * args.frames * down * share(args.out_width, tile_width), enough = 256;
    const int most = strip_width / tile_width, at_once = tiles / enough < 1      ? 1
                                                         : tiles / enough < most ? static_cast<int>(tiles / enough)
                                                                                 : most;
    return {rows, at_once * tile_width, down, share(args.out_width, at_once * tile_width)};
}

long long warp_image_tasks(const native::WarpCall& call) {
    const WarpCommon args = warp_common(call.record);
    if (args.samples * args.frames * args.channels * args.out_width * args.out_height == 0) return 0;
    const TaskGrid grid = task_grid(args);
    return args.samples * args.frames * grid.down * grid.across;
}

template <class R>
inline void warp_typed(const native::WarpCall& call, long long task, void* memory) {
    const WarpCommon args = warp_common(call.record);
    const TaskGrid grid = task_grid(args);
    const long long rest = task / grid.across, frame = rest / grid.down, n = frame / args.frames,
                    t = frame - n * args.frames;
    auto least = [](int a, int b) { return a < b ? a : b; };
    const int left = static_cast<int>(task % grid.across) * grid.columns,
              top = static_cast<int>(rest % grid.down) * grid.rows;
    const int width = least(grid.columns, args.out_width - left), height = least(grid.rows, args.out_height - top);
    if (call.sampler == sampler_of<Nearest> && call.source == call.target &&
        copy_strip<R>(call, args, n, t, left, width, top, height, *static_cast<NearestStripWorkspace*>(memory)))
        return;
    if constexpr (is_same_v<R, float>)
        if (call.sampler == sampler_of<Bilinear> && call.source == dtype_of<uint8> && call.target == dtype_of<uint8> &&
            warp_strip(call, args, n, t, left, width, top, height, *static_cast<SeparableWorkspace*>(memory)))
            return;
    for (int x = 0; x < width; x += tile_width)
        warp_tile<R>(call, args,
                     {n,
                      t,
                      left + x,
                      top,
                      least(tile_width, width - x),
                      height,
                      left + width,
                      0,
                      0,
                      false,
                      {},
                      nullptr,
                      nullptr},
                     *static_cast<TileWorkspace<R>*>(memory));
}

inline void warp_by_dtype(const native::WarpCall& call, long long task, void* memory) {
    if (call.source == dtype_of<float64>)
        warp_typed<double>(call, task, memory);
    else
        warp_typed<float>(call, task, memory);
}

// Where a box alone of sample n counts as the image: as of a smaller image, whose first pixel the matrix counts from.
template <class Geometry>
inline void crop_to_window(const native::WarpCall& call, WarpRecord<Geometry>& own, long long n) {
    auto matrix = own.geometry.sample(n);
    auto part = [&](int axis, int extent, int& size) {
        const double low = entry(own.window, n, axis), length = entry(own.window, n, 2 + axis);
        const int from = low < 0.0 ? 0 : low < extent ? static_cast<int>(low) : extent - 1;
        size = length < 1.0 ? 1 : length < extent - from ? static_cast<int>(length) : extent - from;
        return from;
    };
    const int top = part(0, own.in_height, own.in_height), left = part(1, own.in_width, own.in_width);
    if constexpr (is_same_v<Geometry, Perspective>) {
        matrix.a -= left * matrix.g, matrix.b -= left * matrix.h, matrix.c -= left * matrix.i;
        matrix.d -= top * matrix.g, matrix.e -= top * matrix.h, matrix.f -= top * matrix.i;
    } else {
        matrix.c -= left, matrix.f -= top;
    }
    memcpy(own.geometry.value, &matrix, sizeof(matrix));
    own.geometry.matrix.data = nullptr;
    own.geometry.inverse = 1;
    own.geometry.half_pixel_centers = 0;
    dispatch_dtype(call.source, [&](auto element) {
        own.in.data = static_cast<decltype(element)*>(own.in.data) + top * own.in.y + left * own.in.x;
    });
}

// By a matrix, of an image that may be each sample's own.
template <class Geometry>
inline void warp_matrix(native::WarpCall call, long long task, void* memory) {
    WarpRecord<Geometry> own;
    memcpy(&own, call.record, sizeof(own));
    if (own.window.data != nullptr || own.in_height == 0) {
        const TaskGrid grid = task_grid(own);
        const long long n = task / grid.across / grid.down / own.frames;
        select_ragged_image(own, n);
        if (own.window.data != nullptr) crop_to_window(call, own, n);
        call.record = &own;
    }
    warp_by_dtype(call, task, memory);
}

void warp_image_task(const native::WarpCall& call, long long task, void* memory) {
    dispatch_geometry(call.geometry, [&](auto geometry) {
        if constexpr (has_matrix<decltype(geometry)>(0))
            warp_matrix<decltype(geometry)>(call, task, memory);
        else
            warp_by_dtype(call, task, memory);
    });
}

}  // namespace cuaug
