#pragma once

#include "../kernels/border.cuh"
#include "../kernels/geometry/affine.cuh"
#include "../kernels/geometry/grid.cuh"
#include "../kernels/geometry/perspective.cuh"
#include "../kernels/sampler/bilinear.cuh"
#include "../kernels/sampler/nearest.cuh"
#include "../kernels/sampler/separable.cuh"
#include "bytes.hpp"
#include "planes.hpp"

// A task makes one tile of the output, stage by stage, each stage through memory that stays in the cache:
// coordinates; the box of the input they need, as groups of four channels with the border resolved; samples; output.
// Only a stage knows its own dimension: geometry, source dtype, sampler, target dtype. The tiles are those of the GPU, whose
// coordinates therefore come out the same here.

namespace cuaug {

constexpr int tile_width = 32, tile_height = 64, tile_pixels = tile_width * tile_height;
constexpr int box_bytes = 1 << 18, most_side = 4096;
constexpr int channels_at_once = 64;

template <int Bytes> struct Unsigned { using type = uint8; };
template <> struct Unsigned<2> { using type = uint16; };
template <> struct Unsigned<4> { using type = unsigned int; };
template <> struct Unsigned<8> { using type = unsigned long long; };

template <bool, class A, class B> struct Select { using type = A; };
template <class A, class B> struct Select<false, A, B> { using type = B; };

struct None {};
using AnyWarp = Warp<None>;  // what the records of all geometries have in common

inline AnyWarp common(const void* record) {
    AnyWarp out;
    static_assert(sizeof(AnyWarp) == offsetof(Warp<Affine>, geometry) + 8, "an empty geometry is padded to one word");
    memcpy(&out, record, offsetof(Warp<Affine>, geometry));
    return out;
}

template <class Use>
inline auto with_border(native::Border border, const Use& use) {
    switch (border) {
        case native::Border::Constant: return use(Constant());
        case native::Border::Edge: return use(Edge());
        case native::Border::Reflect: return use(Reflect());
        case native::Border::Symmetric: return use(Symmetric());
        default: return use(Wrap());
    }
}

template <class Use>
inline auto with_sampler(native::Sampler sampler, const Use& use) {
    switch (sampler) {
        case native::Sampler::Nearest: return use(Nearest());
        case native::Sampler::Bilinear: return use(Bilinear());
        case native::Sampler::Bicubic: return use(Bicubic());
        default: return use(Lanczos());
    }
}

inline int border_index(native::Border border, int i, int n) {
    return with_border(border, [&](auto kind) { return decltype(kind)::index(i, n); });
}

// A tile of the output and the input coordinates of its pixels, less (base_x, base_y). A row is filled up to a multiple of 8
// pixels with copies of its last.
template <class R>
struct Tile {
    long long n, t;
    int left, top, width, height;
    int base_x, base_y;
    bool near;               // every coordinate is finite and close to the base
    Bounds<R> bounds;
    R *x, *y;                // [tile_height, tile_width]

    int padded() const { return (width + 7) & ~7; }
};

// The least and the greatest of `count` numbers, a multiple of 8; false if one is not finite.
template <class R>
inline bool extremes(const R* __restrict__ values, int count, R& low, R& high) {
    R lows[8], highs[8], zeros[8];
    for (int j = 0; j < 8; ++j) lows[j] = highs[j] = values[j], zeros[j] = R(0);
    for (int i = 0; i < count; i += 8)
        for (int j = 0; j < 8; ++j) {
            const R value = values[i + j];
            lows[j] = fmin(value, lows[j]);
            highs[j] = fmax(value, highs[j]);
            zeros[j] += value - value;
        }
    low = lows[0];
    high = highs[0];
    R zero = R(0);
    for (int j = 0; j < 8; ++j) low = fmin(lows[j], low), high = fmax(highs[j], high), zero += zeros[j];
    return zero == R(0);
}

template <class Geometry, class R>
inline void coordinates(const void* record, Tile<R>& tile) {
    const auto local = Geometry::template local<R>(static_cast<const Warp<Geometry>*>(record)->geometry.sample(tile.n), tile.left, tile.top);
    tile.base_x = local.base_x;
    tile.base_y = local.base_y;
    const int padded = tile.padded();
    for (int dy = 0; dy < tile.height; ++dy) {
        R *x = tile.x + dy * tile_width, *y = tile.y + dy * tile_width;
        for (int dx = 0; dx < tile.width; ++dx) {
            const Point<R> p = local.at(static_cast<R>(dx), static_cast<R>(dy));
            x[dx] = p.x;
            y[dx] = p.y;
        }
        for (int dx = tile.width; dx < padded; ++dx) x[dx] = x[tile.width - 1], y[dx] = y[tile.width - 1];
    }
    Bounds<R>& box = tile.bounds;
    bool known = true;
    if constexpr (Same<Geometry, Affine>::value) {  // monotone in both directions, roundings included
        const int right = tile.width - 1, bottom = (tile.height - 1) * tile_width;
        const R x[8] = {tile.x[0], tile.x[right], tile.x[bottom], tile.x[bottom + right], tile.x[0], tile.x[0], tile.x[0], tile.x[0]};
        const R y[8] = {tile.y[0], tile.y[right], tile.y[bottom], tile.y[bottom + right], tile.y[0], tile.y[0], tile.y[0], tile.y[0]};
        known = extremes(x, 8, box.x_low, box.x_high) && extremes(y, 8, box.y_low, box.y_high);
    } else {
        box = {tile.x[0], tile.x[0], tile.y[0], tile.y[0]};
        for (int dy = 0; dy < tile.height; ++dy) {
            R x_low, x_high, y_low, y_high;
            known &= extremes(tile.x + dy * tile_width, padded, x_low, x_high) & extremes(tile.y + dy * tile_width, padded, y_low, y_high);
            box = {fmin(x_low, box.x_low), fmax(x_high, box.x_high), fmin(y_low, box.y_low), fmax(y_high, box.y_high)};
        }
    }
    const R limit = R(1 << 20);
    const int half = 1 << 29;
    tile.near = known && box.x_low > -limit && box.x_high < limit && box.y_low > -limit && box.y_high < limit &&
                tile.base_x > -half && tile.base_x < half && tile.base_y > -half && tile.base_y < half;
}

// A coordinate counts from the image's own corner before it is judged.
template <class R>
inline bool inside(const Tile<R>& tile, const Point<R>& p) {
    return in_range(p) && in_range(Point<R>{p.x + static_cast<R>(tile.base_x), p.y + static_cast<R>(tile.base_y)});
}

struct Box {
    int x, y, width, height;   // in base coordinates
    int pitch;                 // pixels
};

// The pixels a tile needs; no width if they are unknown or too many.
template <class R>
inline Box box_of(const Tile<R>& tile, int before, int after, int pixel_bytes) {
    if (!tile.near) return {};
    const R slack = R(1.0 / 256);
    const int x = static_cast<int>(floor(tile.bounds.x_low)) - before, y = static_cast<int>(floor(tile.bounds.y_low)) - before;
    const int width = static_cast<int>(floor(tile.bounds.x_high + slack)) + after + 1 - x;
    const int height = static_cast<int>(floor(tile.bounds.y_high + slack)) + after + 1 - y;
    if (width > most_side || height > most_side || static_cast<long long>(width) * height * pixel_bytes > box_bytes) return {};
    return {x, y, width, height, width};
}

// What a sampler sees of the staged box, counting from its corner.
template <class R>
struct Staged {
    const R* pixels;
    int pitch;

    static int split(R x, R& fraction) { return cuaug::split(x, fraction); }

    Pixel<R, 4> pixel(int x, int y) const {
        Pixel<R, 4> out;
        memcpy(&out, pixels + 4 * (y * pitch + x), sizeof(out));
        return out;
    }
};

// What a sampler sees of the image itself, where no box can be staged.
template <class T>
struct Direct {
    using R = Real<T>;
    Plane plane;
    native::Border border;
    int height, width, base_x, base_y;
    Pixel<R, 4> fill;

    static int split(R x, R& fraction) { return cuaug::split(x, fraction); }

    Pixel<R, 4> texel(int x, int y) const {
        int column = base_x + x, row = base_y + y;
        if (column < 0 || column >= width) column = border_index(border, column, width);
        if (row < 0 || row >= height) row = border_index(border, row, height);
        if (column < 0 || row < 0) return fill;
        const T* at = reinterpret_cast<const T*>(plane.data) + row * plane.y_stride + column * plane.x_stride;
        Pixel<R, 4> out;
        for (int k = 0; k < 4; ++k) out.c[k] = to_real<R>(at[plane.offset[k]]);
        return out;
    }

    Pixel<R, 4> pixel(int x, int y) const { return texel(x, y); }
};

// Fills the box's pixels: `load(row, first, count, to)` for a run of a row, `fill(to, count)` for what a constant border hides.
template <class P, int K, class Load, class Fill>
inline void stage(const AnyWarp& args, native::Border border, const Box& box, int base_x, int base_y, P* pixels, const Load& load, const Fill& fill) {
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
        if (border == native::Border::Constant) {
            fill(at, from);
            fill(at + K * to, box.width - to);
        } else {
            for (int x = 0; x < from; ++x) load(row, border_index(border, first + x, args.in_width), 1, at + K * x);
            for (int x = to; x < box.width; ++x) load(row, border_index(border, first + x, args.in_width), 1, at + K * x);
        }
    }
}

template <class R, class Sampler, class Image>
inline void sample(const Image& image, const Tile<R>& tile, R left, R top, const Pixel<R, 4>& fill, R* __restrict__ pixels) {
    for (int dy = 0; dy < tile.height; ++dy)
        for (int dx = 0; dx < tile.width; ++dx) {
            const int i = dy * tile_width + dx;
            const Point<R> p = {tile.x[i] - left, tile.y[i] - top};
            const Pixel<R, 4> value = tile.near || inside(tile, p) ? Sampler::template sample<R>(image, p) : fill;
            memcpy(pixels + 4 * i, &value, sizeof(value));
        }
}

// The memory of a task.
template <class R>
struct Memory {
    alignas(64) R x[tile_pixels];
    alignas(64) R y[tile_pixels];
    alignas(64) R result[4 * tile_pixels];
    alignas(64) R scratch[4 * most_side + 16];
    alignas(64) unsigned char box[box_bytes + 64];
};
static_assert(sizeof(Memory<double>) <= native::workspace_bytes, "the workspace holds a task's memory");

inline void warp_bytes(const native::WarpCall& call, const AnyWarp& args, const Tile<float>& tile, const Box& box, int c, Memory<float>& memory) {
    const Plane in = plane<uint8>(args.in, tile.n, tile.t, c, args.channels), out = plane<uint8>(args.out, tile.n, tile.t, c, args.channels);
    const Pixel<float, 4> fill = fill_of<uint8>(args.fill, tile.n, c, args.channels);
    Word fill_word = 0;
    for (int k = 0; k < 4; ++k) fill_word |= static_cast<Word>(fill.c[k]) << (8 * k);
    Word *pixels = reinterpret_cast<Word*>(memory.box), *result = reinterpret_cast<Word*>(memory.result);
    stage<Word, 1>(args, call.border, box, tile.base_x, tile.base_y, pixels,
                   [&](int row, int first, int count, Word* to) { load_words(in, row, first, count, to); },
                   [&](Word* to, int count) { for (int i = 0; i < count; ++i) to[i] = fill_word; });
    for (int dy = 0; dy < tile.height; ++dy) {
        const int i = dy * tile_width;
        bilinear_words(pixels, box.pitch, tile.x + i, tile.y + i, static_cast<float>(box.x), static_cast<float>(box.y), tile.padded(), result);
        store_words(result, tile.width, out, tile.top + dy, tile.left);
    }
}

template <class T>
inline void warp_planes(const native::WarpCall& call, const AnyWarp& args, const Tile<float>& tile, const Box& box, int c, Memory<float>& memory) {
    const Plane in = plane<T>(args.in, tile.n, tile.t, c, args.channels);
    const int left = tile.base_x + box.x, top = tile.base_y + box.y;
    const T* corner = reinterpret_cast<const T*>(in.data) + top * in.y_stride + left * in.x_stride;
    const float* from[4] = {};
    int pitch = box.pitch;
    const bool inside = left >= 0 && top >= 0 && left + box.width <= args.in_width && top + box.height <= args.in_height;
    const long long reach = in.y_stride * box.height;
    if (Same<T, float>::value && inside && in.x_stride == 1 && reach > -(1 << 30) && reach < 1 << 30) {
        pitch = static_cast<int>(in.y_stride);
        for (int k = 0; k < in.channels; ++k) from[k] = reinterpret_cast<const float*>(corner + in.offset[k]);
    } else {
        const Pixel<float, 4> fill = fill_of<T>(args.fill, tile.n, c, args.channels);
        for (int k = 0; k < in.channels; ++k) {
            float* pixels = reinterpret_cast<float*>(memory.box) + k * box.pitch * box.height;
            from[k] = pixels;
            stage<float, 1>(args, call.border, box, tile.base_x, tile.base_y, pixels,
                            [&](int row, int first, int count, float* to) {
                                load_row(reinterpret_cast<const T*>(in.data) + in.offset[k] + row * in.y_stride + first * in.x_stride, in.x_stride, count, to);
                            },
                            [&](float* to, int count) { for (int i = 0; i < count; ++i) to[i] = fill.c[k]; });
        }
    }
    with_source(call.target, [&](auto element) {
        using U = decltype(element);
        const Plane out = plane<U>(args.out, tile.n, tile.t, c, args.channels);
        const bool straight = Same<U, float>::value && out.x_stride == 1 && tile.width == tile.padded();
        for (int dy = 0; dy < tile.height; ++dy) {
            U* at = reinterpret_cast<U*>(out.data) + (tile.top + dy) * out.y_stride + tile.left * out.x_stride;
            float* to[4];
            for (int k = 0; k < in.channels; ++k)
                to[k] = straight ? reinterpret_cast<float*>(at + out.offset[k]) : memory.result + k * tile_width;
            bilinear_planes(from, in.channels, pitch, tile.x + dy * tile_width, tile.y + dy * tile_width,
                            static_cast<float>(box.x), static_cast<float>(box.y), tile.padded(), to);
            for (int k = 0; k < in.channels && !straight; ++k) store_row(to[k], tile.width, at + out.offset[k], out.x_stride);
        }
    });
}

template <class T>
inline void load_box(const native::WarpCall& call, const AnyWarp& args, const Tile<Real<T>>& tile, const Box& box, int c, const Pixel<Real<T>, 4>& fill, Memory<Real<T>>& memory) {
    using R = Real<T>;
    const Plane in = plane<T>(args.in, tile.n, tile.t, c, args.channels);
    stage<R, 4>(args, call.border, box, tile.base_x, tile.base_y, reinterpret_cast<R*>(memory.box),
                [&](int row, int first, int count, R* to) { load_pixels<T>(in, row, first, count, to, memory.scratch); },
                [&](R* to, int count) { for (int i = 0; i < count; ++i) memcpy(to + 4 * i, &fill, sizeof(fill)); });
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
    const bool bytes = call.source == native::Dtype::uint8 && call.target == native::Dtype::uint8 && call.sampler == native::Sampler::Bilinear;
    Box box = {};
    if (!nearest) box = with_sampler(call.sampler, [&](auto sampler) {
        return box_of(tile, decltype(sampler)::before, decltype(sampler)::after, bytes ? 4 : 4 * static_cast<int>(sizeof(R)));
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
                const Direct<T> image = {plane<T>(args.in, tile.n, tile.t, c, args.channels), call.border, args.in_height, args.in_width, tile.base_x, tile.base_y, fill};
                with_sampler(call.sampler, [&](auto sampler) {
                    sample<R, decltype(sampler)>(image, tile, R(0), R(0), fill, memory.result);
                });
            }
        });
        if (planes) continue;
        if (box.width > 0)
            with_sampler(call.sampler, [&](auto sampler) {
                if constexpr (!Same<decltype(sampler), Nearest>::value)
                    sample<R, decltype(sampler)>(Staged<R>{reinterpret_cast<const R*>(memory.box), box.pitch}, tile, static_cast<R>(box.x), static_cast<R>(box.y), fill, memory.result);
            });
        with_source(call.target, [&](auto element) { store_tile<decltype(element)>(args, tile, c, memory); });
    }
}

// For Nearest: where in the frame a pixel lies. Offsets of 32 bits where they suffice: twice as many at once.
template <class Offset>
constexpr Offset nowhere = sizeof(Offset) == 4 ? static_cast<Offset>(-0x7fffffff - 1) : static_cast<Offset>(-0x7fffffffffffffff - 1);

template <class Border, class Offset>
struct Address {
    int base_x, base_y, width, height;
    Offset x_stride, y_stride;

    Offset texel(int x, int y) const {
        const int column = Border::index(base_x + x, width), row = Border::index(base_y + y, height);
        const Offset offset = column * x_stride + row * y_stride;
        return (column | row) < 0 ? nowhere<Offset> : offset;
    }
};

// Where no pixel lies outside.
struct Inside {
    static int index(int i, int) { return i; }
};

template <class Kind, class R, class Offset>
inline void addresses(const AnyWarp& args, const Tile<R>& tile, Offset* __restrict__ offset) {
    const Address<Kind, Offset> image = {tile.base_x, tile.base_y, args.in_width, args.in_height, static_cast<Offset>(args.in.x), static_cast<Offset>(args.in.y)};
    for (int dy = 0; dy < tile.height; ++dy) {
        const R *x = tile.x + dy * tile_width, *y = tile.y + dy * tile_width;
        Offset* to = offset + dy * tile_width;
        if (tile.near)
            for (int i = 0; i < tile.width; ++i) to[i] = Nearest::sample(image, Point<R>{x[i], y[i]});
        else
            for (int i = 0; i < tile.width; ++i) {
                const Point<R> p = {x[i], y[i]};
                to[i] = inside(tile, p) ? Nearest::sample(image, p) : nowhere<Offset>;
            }
    }
}

template <class R, class Offset>
inline void addresses(native::Border border, const AnyWarp& args, const Tile<R>& tile, Offset* offset) {
    const Box box = box_of(tile, Nearest::before, Nearest::after, 1);
    const int left = tile.base_x + box.x, top = tile.base_y + box.y;
    if (box.width > 0 && left >= 0 && top >= 0 && left + box.width <= args.in_width && top + box.height <= args.in_height)
        return addresses<Inside>(args, tile, offset);
    with_border(border, [&](auto kind) { addresses<decltype(kind)>(args, tile, offset); });
}

// count elements, a step apart
template <class T>
inline void copy_run(const T* __restrict__ from, long long from_step, int count, T* __restrict__ to, long long to_step) {
    if (from_step == 1 && to_step == 1) memcpy(to, from, count * sizeof(T));
    else if (from_step == -1 && to_step == 1)
        for (int i = 0; i < count; ++i) to[i] = from[-i];
    else
        for (int i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
}

// One row of `count` pixels and `channels` channels, moved as bits.
template <class T, class Offset>
inline void copy_pixels(const T* __restrict__ from, long long from_c, const Offset* offset, int count, T* __restrict__ to, long long to_x, long long to_c, const T* fill, int channels) {
    constexpr Offset none = nowhere<Offset>;
    int first = 0, last = count;
    auto fill_pixel = [&](int i) { for (int k = 0; k < channels; ++k) to[i * to_x + k * to_c] = fill[k]; };
    while (first < last && offset[first] == none) fill_pixel(first++);
    while (last > first && offset[last - 1] == none) fill_pixel(--last);
    if (first == last) return;
    const Offset start = offset[first], second = offset[last - first > 1 ? first + 1 : first];
    const Offset step = second == none ? 0 : second - start;
    bool line = true, holes = false;
    using Modular = typename Unsigned<sizeof(Offset)>::type;  // `none` is far from every offset, but must not overflow
    for (int i = first; i < last; ++i) {
        line &= static_cast<Modular>(offset[i]) - static_cast<Modular>(start) == static_cast<Modular>(i - first) * static_cast<Modular>(step);
        holes |= offset[i] == none;
    }
    if (line) {
        if (from_c == 1 && to_c == 1 && step == channels && to_x == channels)
            memcpy(to + first * to_x, from + start, (last - first) * channels * sizeof(T));
        else
            for (int k = 0; k < channels; ++k) copy_run(from + start + k * from_c, step, last - first, to + first * to_x + k * to_c, to_x);
        return;
    }
    auto gather = [&](auto move) {
        if (!holes)
            for (int i = first; i < last; ++i) move(from + offset[i], to + i * to_x);
        else
            for (int i = first; i < last; ++i)
                if (offset[i] == none) fill_pixel(i);
                else move(from + offset[i], to + i * to_x);
    };
    auto whole_pixels = [&](auto size) { gather([](const T* a, T* b) { memcpy(b, a, sizeof(size)); }); };
    switch ((from_c == 1 && to_c == 1) || channels == 1 ? channels * static_cast<int>(sizeof(T)) : 0) {
        case 1: return whole_pixels(Texel<char, 1>());
        case 2: return whole_pixels(Texel<char, 2>());
        case 3: return whole_pixels(Texel<char, 3>());
        case 4: return whole_pixels(Texel<char, 4>());
        case 6: return whole_pixels(Texel<char, 6>());
        case 8: return whole_pixels(Texel<char, 8>());
        case 12: return whole_pixels(Texel<char, 12>());
        case 16: return whole_pixels(Texel<char, 16>());
        default: gather([=](const T* a, T* b) { for (int k = 0; k < channels; ++k) b[k * to_c] = a[k * from_c]; });
    }
}

template <class Offset, class R>
inline void warp_bits(const native::WarpCall& call, const AnyWarp& args, const Tile<R>& tile, Memory<R>& memory) {
    Offset* offset = reinterpret_cast<Offset*>(memory.box);
    addresses(call.border, args, tile, offset);
    with_dtype(call.source, [&](auto element) {
        using T = decltype(element);
        using Bits = typename Unsigned<sizeof(T)>::type;
        using Value = typename Select<sizeof(T) == 8 || Same<T, int32>::value, double, float>::type;
        Bits fill[channels_at_once];
        for (int c = 0; c < args.channels; c += channels_at_once) {
            const int channels = args.channels - c < channels_at_once ? args.channels - c : channels_at_once;
            for (int k = 0; k < channels; ++k) {
                const T value = from_real<T>(static_cast<Value>(fill_value(args.fill, tile.n, c + k)));
                memcpy(fill + k, &value, sizeof(T));
            }
            const Bits* from = static_cast<const Bits*>(args.in.data) + tile.n * args.in.n + tile.t * args.in.t + c * args.in.c;
            Bits* to = static_cast<Bits*>(args.out.data) + tile.n * args.out.n + tile.t * args.out.t + c * args.out.c + tile.top * args.out.y + tile.left * args.out.x;
            for (int dy = 0; dy < tile.height; ++dy)
                copy_pixels(from, args.in.c, offset + dy * tile_width, tile.width, to + dy * args.out.y, args.out.x, args.out.c, fill, channels);
        }
    });
}
static_assert(box_bytes >= tile_pixels * 8, "the addresses fit into the box");

template <class R>
inline void warp_tile(const native::WarpCall& call, const AnyWarp& args, Tile<R> tile, Memory<R>& memory) {
    tile.x = memory.x;
    tile.y = memory.y;
    switch (call.geometry) {
        case native::Geometry::Affine: coordinates<Affine>(call.record, tile); break;
        case native::Geometry::Perspective: coordinates<Perspective>(call.record, tile); break;
        default: coordinates<Grid>(call.record, tile);
    }
    auto size = [](long long stride) { return static_cast<double>(stride < 0 ? -stride : stride); };
    const bool narrow = size(args.in.y) * args.in_height + size(args.in.x) * args.in_width < 1 << 28;
    if (call.sampler != native::Sampler::Nearest || call.source != call.target) warp_numbers(call, args, tile, memory);
    else if (narrow) warp_bits<int>(call, args, tile, memory);
    else warp_bits<long long>(call, args, tile, memory);
}

inline long long tiles_across(const AnyWarp& args) { return (args.out_width + tile_width - 1) / tile_width; }
// Even shares of the height, of at most 64 rows.
inline int tile_rows(const AnyWarp& args) {
    const int tiles = (args.out_height + 63) / 64;
    return (args.out_height + tiles - 1) / tiles;
}

inline long long tiles_down(const AnyWarp& args) { return (args.out_height + tile_rows(args) - 1) / tile_rows(args); }

inline long long warp_tasks(const native::WarpCall& call) {
    const AnyWarp args = common(call.record);
    return args.channels > 0 ? args.samples * args.frames * tiles_down(args) * tiles_across(args) : 0;
}

inline void warp_task(const native::WarpCall& call, long long task, void* workspace) {
    const AnyWarp args = common(call.record);
    const long long across = tiles_across(args), rest = task / across, down = tiles_down(args), frame = rest / down;
    const long long n = frame / args.frames;
    const int left = static_cast<int>(task % across) * tile_width, top = static_cast<int>(rest % down) * tile_rows(args);
    auto least = [](int a, int b) { return a < b ? a : b; };
    const int width = least(tile_width, args.out_width - left), height = least(tile_rows(args), args.out_height - top);
    if (call.source == native::Dtype::float64)
        warp_tile<double>(call, args, {n, frame - n * args.frames, left, top, width, height, 0, 0, false, {}, nullptr, nullptr}, *static_cast<Memory<double>*>(workspace));
    else
        warp_tile<float>(call, args, {n, frame - n * args.frames, left, top, width, height, 0, 0, false, {}, nullptr, nullptr}, *static_cast<Memory<float>*>(workspace));
}

}  // namespace cuaug
