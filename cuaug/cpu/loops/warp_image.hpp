#pragma once

#include "../../kernels/sampler/bilinear.cuh"
#include "../../kernels/sampler/separable.cuh"
#include "bilinear_tile.hpp"
#include "nearest_copy.hpp"
#include "bilinear_separable.hpp"

// A task makes a strip of the output tile by tile, and a tile stage by stage, each stage through memory that stays in
// the cache: coordinates; the box of the input they need, as groups of four channels with the border resolved; samples;
// output. Only a stage knows its own dimension: geometry, source dtype, sampler, target dtype.

namespace cuaug {

template <class Use>
inline auto with_sampler(native::Sampler sampler, const Use& use) {
    switch (sampler) {
        case native::Sampler::Nearest:
            return use(Nearest());
        case native::Sampler::Bilinear:
            return use(Bilinear());
        case native::Sampler::Bicubic:
            return use(Bicubic());
        default:
            return use(Lanczos());
    }
}

template <class R, class Sampler, class Image>
inline void sample(const Image& image, const Tile<R>& tile, R left, R top, const Pixel<R, 4>& fill,
                   R* __restrict__ pixels) {
    for (int dy = 0; dy < tile.height; ++dy)
        for (int dx = 0; dx < tile.width; ++dx) {
            const int i = dy * tile_width + dx;
            const Point<R> p = {tile.x[i] - left, tile.y[i] - top};
            const Pixel<R, 4> value = tile.near || inside(tile, p) ? Sampler::template sample<R>(image, p) : fill;
            memcpy(pixels + 4 * i, &value, sizeof(value));
        }
}

template <class T>
inline void load_box(const native::WarpCall& call, const AnyWarp& args, const Tile<Real<T>>& tile, const Box& box,
                     int c, const Pixel<Real<T>, 4>& fill, Memory<Real<T>>& memory) {
    using R = Real<T>;
    const Plane in = plane<T>(args.in, tile.n, tile.t, c, args.channels);
    stage<R, 4>(
        args, call.border, box, tile.base_x, tile.base_y, reinterpret_cast<R*>(memory.box),
        [&](int row, int first, int count, R* to) { load_pixels<T>(in, row, first, count, to, memory.scratch); },
        [&](R* to, int count) {
            for (int i = 0; i < count; ++i) memcpy(to + 4 * i, &fill, sizeof(fill));
        });
}

template <class T, class R>
inline void store_tile(const AnyWarp& args, const Tile<R>& tile, int c, Memory<R>& memory) {
    const Plane out = plane<T>(args.out, tile.n, tile.t, c, args.channels);
    for (int dy = 0; dy < tile.height; ++dy)
        store_pixels<T>(memory.result + 4 * dy * tile_width, tile.width, out, tile.top + dy, tile.left, memory.scratch);
}

// One tile, all channels, through numbers of type R.
template <class R>
inline void warp_numbers(const native::WarpCall& call, const AnyWarp& args, const Tile<R>& tile, Memory<R>& memory) {
    const bool nearest = call.sampler == native::Sampler::Nearest;
    const bool bytes = call.source == native::Dtype::uint8 && call.target == native::Dtype::uint8 &&
                       call.sampler == native::Sampler::Bilinear;
    Box box = {};
    if (!nearest)
        box = with_sampler(call.sampler, [&](auto sampler) {
            return box_of(tile, decltype(sampler)::before, decltype(sampler)::after,
                          bytes ? 4 : 4 * static_cast<int>(sizeof(R)));
        });
    const bool planes = Same<R, float>::value && call.sampler == native::Sampler::Bilinear && !bytes && box.width > 0;
    for (int c = 0; c < args.channels; c += 4) {
        if constexpr (Same<R, float>::value)
            if (bytes && box.width > 0) {
                warp_bytes(call, args, tile, box, c, memory);
                continue;
            }
        Pixel<R, 4> fill = {};
        with_source(call.source, [&](auto element) {
            using T = decltype(element);
            if constexpr (Same<Real<T>, R>::value) {
                if constexpr (Same<R, float>::value)
                    if (planes) return warp_planes<T>(call, args, tile, box, c, memory);
                fill = fill_of<T>(args.fill, tile.n, c, args.channels);
                if (box.width > 0) {
                    load_box<T>(call, args, tile, box, c, fill, memory);
                    return;
                }
                const Direct<T> image = {plane<T>(args.in, tile.n, tile.t, c, args.channels),
                                         call.border,
                                         args.in_height,
                                         args.in_width,
                                         tile.base_x,
                                         tile.base_y,
                                         fill};
                with_sampler(call.sampler, [&](auto sampler) {
                    sample<R, decltype(sampler)>(image, tile, R(0), R(0), fill, memory.result);
                });
            }
        });
        if (planes) continue;
        if (box.width > 0)
            with_sampler(call.sampler, [&](auto sampler) {
                if constexpr (!Same<decltype(sampler), Nearest>::value)
                    sample<R, decltype(sampler)>(Staged<R>{reinterpret_cast<const R*>(memory.box), box.pitch}, tile,
                                                 static_cast<R>(box.x), static_cast<R>(box.y), fill, memory.result);
            });
        with_source(call.target, [&](auto element) { store_tile<decltype(element)>(args, tile, c, memory); });
    }
}

template <class R>
inline void warp_tile(const native::WarpCall& call, const AnyWarp& args, Tile<R> tile, Memory<R>& memory) {
    tile.x = memory.x;
    tile.y = memory.y;
    switch (call.geometry) {
        case native::Geometry::Affine:
            coordinates<Affine>(call.record, tile);
            break;
        case native::Geometry::Perspective:
            coordinates<Perspective>(call.record, tile);
            break;
        default:
            coordinates<Grid>(call.record, tile);  // and WideGrid, whose record is the same
    }
    if (call.sampler == native::Sampler::Nearest && call.source == call.target)
        move_tile(call, args, tile, static_cast<void*>(memory.box));
    else
        warp_numbers(call, args, tile, memory);
}

// How the output is cut into tasks: even shares of the height, of at most 64 rows, and as much of a row as leaves
// enough tasks for the threads of any machine.
struct Cut {
    int rows, columns, down, across;
};

inline Cut cut_of(const AnyWarp& args) {
    auto share = [](int n, int parts) { return (n + parts - 1) / parts; };
    const int rows = share(args.out_height, share(args.out_height, tile_height)), down = share(args.out_height, rows);
    const long long tiles = args.samples * args.frames * down * share(args.out_width, tile_width), enough = 256;
    const int most = strip_width / tile_width, at_once = tiles / enough < 1      ? 1
                                                         : tiles / enough < most ? static_cast<int>(tiles / enough)
                                                                                 : most;
    return {rows, at_once * tile_width, down, share(args.out_width, at_once * tile_width)};
}

inline long long warp_tasks(const native::WarpCall& call) {
    const AnyWarp args = common(call.record);
    if (args.samples * args.frames * args.channels * args.out_width * args.out_height == 0) return 0;
    const Cut cut = cut_of(args);
    return args.samples * args.frames * cut.down * cut.across;
}

template <class R>
inline void warp_typed(const native::WarpCall& call, long long task, void* workspace) {
    const AnyWarp args = common(call.record);
    const Cut cut = cut_of(args);
    const long long rest = task / cut.across, frame = rest / cut.down, n = frame / args.frames,
                    t = frame - n * args.frames;
    auto least = [](int a, int b) { return a < b ? a : b; };
    const int left = static_cast<int>(task % cut.across) * cut.columns,
              top = static_cast<int>(rest % cut.down) * cut.rows;
    const int width = least(cut.columns, args.out_width - left), height = least(cut.rows, args.out_height - top);
    if (call.sampler == native::Sampler::Nearest && call.source == call.target &&
        move_strip<R>(call, args, n, t, left, width, top, height, *static_cast<StripMemory*>(workspace)))
        return;
    if constexpr (Same<R, float>::value)
        if (call.sampler == native::Sampler::Bilinear && call.source == native::Dtype::uint8 &&
            call.target == native::Dtype::uint8 &&
            warp_strip(call, args, n, t, left, width, top, height, *static_cast<BilinearStrip*>(workspace)))
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
                     *static_cast<Memory<R>*>(workspace));
}

inline void warp_samples(const native::WarpCall& call, long long task, void* workspace) {
    if (call.source == native::Dtype::float64)
        warp_typed<double>(call, task, workspace);
    else
        warp_typed<float>(call, task, workspace);
}

// Where a box alone of sample n counts as the image: as of a smaller image, whose first pixel the matrix counts from.
template <class Geometry>
inline void take_window(const native::WarpCall& call, Warp<Geometry>& own, long long n) {
    auto matrix = own.geometry.sample(n);
    auto part = [&](int axis, int extent, int& size) {
        const double low = entry(own.window, n, axis), length = entry(own.window, n, 2 + axis);
        const int from = low < 0.0 ? 0 : low < extent ? static_cast<int>(low) : extent - 1;
        size = length < 1.0 ? 1 : length < extent - from ? static_cast<int>(length) : extent - from;
        return from;
    };
    const int top = part(0, own.in_height, own.in_height), left = part(1, own.in_width, own.in_width);
    if constexpr (Same<Geometry, Perspective>::value) {
        matrix.a -= left * matrix.g, matrix.b -= left * matrix.h, matrix.c -= left * matrix.i;
        matrix.d -= top * matrix.g, matrix.e -= top * matrix.h, matrix.f -= top * matrix.i;
    } else {
        matrix.c -= left, matrix.f -= top;
    }
    memcpy(own.geometry.value, &matrix, sizeof(matrix));
    own.geometry.matrix.data = nullptr;
    own.geometry.inverse = 1;
    own.geometry.corner = 0;
    with_dtype(call.source, [&](auto element) {
        own.in.data = static_cast<decltype(element)*>(own.in.data) + top * own.in.y + left * own.in.x;
    });
}

// By a matrix, of an image that may be each sample's own.
template <class Geometry>
inline void warp_matrix(native::WarpCall call, long long task, void* workspace) {
    Warp<Geometry> own;
    memcpy(&own, call.record, sizeof(own));
    if (own.window.data != nullptr || own.in_height == 0) {
        const Cut cut = cut_of(own);
        const long long n = task / cut.across / cut.down / own.frames;
        take_image(own, n);
        if (own.window.data != nullptr) take_window(call, own, n);
        call.record = &own;
    }
    warp_samples(call, task, workspace);
}

inline void warp_task(const native::WarpCall& call, long long task, void* workspace) {
    if (call.geometry == native::Geometry::Affine)
        warp_matrix<Affine>(call, task, workspace);
    else if (call.geometry == native::Geometry::Perspective)
        warp_matrix<Perspective>(call, task, workspace);
    else
        warp_samples(call, task, workspace);
}

}  // namespace cuaug
