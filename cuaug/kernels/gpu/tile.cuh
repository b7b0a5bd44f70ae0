#pragma once

#include "../geometry/local.cuh"
#include "../image.cuh"
#include "layout.cuh"
#include "words.cuh"

// A block makes one tile of the output from one box of the input. The box is staged in shared memory with its border already
// resolved, so that sampling has neither tests nor uncoalesced loads.

namespace cuaug {

constexpr int tile_width = 32, threads = 256;
template <class Pixel> constexpr int group = sizeof(Pixel) <= 4 ? 8 : 4;  // pixels of a row that a thread stages at a time
template <class Pixel> constexpr int box_bytes = sizeof(Pixel) <= 8 ? 36864 : 45056;

// The input pixels a tile needs; empty if they are unknown or too many.
struct Box {
    int x, y;            // counted from the base; x so that the first column is a multiple of `group` in the image
    int width, height;   // width a multiple of `group`
    int pitch;
};

// A warp samples a patch of 8x4 pixels, turned by any angle. With a pitch of 12 or 20 (mod 32) words the two closest pixels that
// share a bank are 5 apart, so that the patch's taps seldom meet in one; of all pitches that keep rows 16-byte aligned, the best.
// Wider pixels take what room allows: an odd multiple of 4.
template <class Pixel>
inline int pitch_of(int width) {
    if (sizeof(Pixel) > 4) return width | 4;
    const int rest = width & 31;
    return width - rest + (rest <= 12 ? 12 : rest <= 20 ? 20 : 44);
}

template <class Pixel, class R>
inline Box box_of(const Bounds<R>& bounds, int base_x, int before, int after) {
    constexpr int mask = group<Pixel> - 1;
    const R slack = R(1.0 / 256), limit = R(1 << 20);
    if (!(bounds.x_low > -limit && bounds.x_high < limit && bounds.y_low > -limit && bounds.y_high < limit)) return {};
    const int first = static_cast<int>(floor(bounds.x_low - slack)) - before, x = first - ((base_x + first) & mask);
    const int y = static_cast<int>(floor(bounds.y_low - slack)) - before;
    const int width = (static_cast<int>(floor(bounds.x_high + slack)) + after - x + mask + 1) & ~mask;
    const int height = static_cast<int>(floor(bounds.y_high + slack)) + after - y + 1;
    const int pitch = pitch_of<Pixel>(width);
    if (static_cast<long long>(pitch) * height * static_cast<int>(sizeof(Pixel)) > box_bytes<Pixel> || width > threads * group<Pixel>) return {};
    return {x, y, width, height, pitch};
}

// The staged box, seen by a sampler whose coordinates count from the box's corner.
template <class T, int K>
struct Staged {
    const Stored<T, K>* pixels;
    int pitch;

    Texel<T, K> texel(int x, int y) const { return to_texel(pixels[y * pitch + x]); }
    Pixel<Real<T>, K> pixel(int x, int y) const { return to_pixel<Real<T>>(texel(x, y)); }
};

// Four adjacent pixels of a row, in vectors.
template <class Layout, class T, int K>
inline FourPixels<T, K> load_four(const T* at, const long long* offset) {
    FourElements<T> from[K];
    for (int k = 0; k < K; ++k) {
        const FourElements<T>* source = reinterpret_cast<const FourElements<T>*>(Same<Layout, Planar>::value ? at + offset[k] : at + 4 * k);
        __builtin_assume(__isGlobal(source));
        from[k] = *source;
    }
    return gather<Layout, T, K>(from);
}

template <class Layout, class T, int K>
inline void store_four(T* at, const long long* offset, const FourPixels<T, K>& pixels) {
    FourElements<T> to[K];
    scatter<Layout, T, K>(pixels, to);
    for (int k = 0; k < K; ++k) {
        FourElements<T>* target = reinterpret_cast<FourElements<T>*>(Same<Layout, Planar>::value ? at + offset[k] : at + 4 * k);
        __builtin_assume(__isGlobal(target));
        *target = to[k];
    }
}

// All threads of the block. Each keeps to one group of columns and walks down the rows.
template <class Layout, class T, int K, class Border>
inline void stage(const Image<T, K, Border>& image, const Box& box, bool aligned, Stored<T, K>* pixels) {
    constexpr int group = cuaug::group<Stored<T, K>>;
    const int across = box.width / group;
    const float share = __fdividef(1.0f, static_cast<float>(across));
    const int down = static_cast<int>((threads + 0.5f) * share), y = static_cast<int>((threadIdx.x + 0.5f) * share);
    const int x = group * (threadIdx.x - y * across), column = image.base_x + x;
    if (y >= down) return;
    const bool vector = !Same<Layout, Strided>::value && aligned && column >= 0 && column + group <= image.width;
    const bool outside = Border::index(column, image.width) < 0;  // groups start at multiples of their length: then all of it is
    FourPixels<T, K>* to = reinterpret_cast<FourPixels<T, K>*>(pixels + y * box.pitch + x);
    const T* at = image.address(column, image.base_y + y);
    const long long step = static_cast<long long>(down) * image.y_stride;
    for (int i = y; i < box.height; i += down, at += step, to += down * (box.pitch / 4)) {
        const int row = image.base_y + i;
        if (vector && static_cast<unsigned int>(row) < image.height) {
            for (int j = 0; j < group / 4; ++j) to[j] = load_four<Layout, T, K>(at + 4 * j * image.x_stride, image.offset);
        } else if (outside || Border::index(row, image.height) < 0) {
            const Stored<T, K> fill = to_stored(image.fill);
            for (int j = 0; j < group / 4; ++j) to[j] = {{fill, fill, fill, fill}};
        } else {
            for (int j = 0; j < group; ++j) to[j / 4].v[j % 4] = to_stored(image.texel(x + j, i));
        }
    }
}

}  // namespace cuaug
