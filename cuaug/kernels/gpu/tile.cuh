#pragma once

#include "../geometry/local.cuh"
#include "../image.cuh"
#include "layout.cuh"
#include "words.cuh"

// A block makes one tile of the output from one box of the input. The box is staged in shared memory with its border already
// resolved, so that sampling has neither tests nor uncoalesced loads.

namespace cuaug {

constexpr int tile_width = 32, tile_height = 32, threads = 128;

template <class T, int K>
constexpr int box_bytes = sizeof(Stored<T, K>) <= 4 ? 20480 : 32768;

// The input pixels a tile needs; empty if they are unknown or too many.
struct Box {
    int x, y;            // counted from the base; x so that the first column is a multiple of 4 in the image
    int width, height;   // width a multiple of 4
    int pitch;           // pixels from a row to the next
    unsigned int reciprocal;  // i * reciprocal >> 16 is i / (width / 4) for a thread's number i
};

// A warp samples a patch of 8x4 pixels, turned by any angle. With a pitch of 12 or 20 (mod 32) words the two closest pixels that
// share a bank are 5 apart, so that the patch's taps seldom meet in one; of all pitches that keep rows 16-byte aligned, the best.
inline int pitch_of(int width, int bytes) {
    if (bytes > 4 && bytes != 12) return width + (width & 4 ? 0 : 4);
    const int rest = width & 31;
    return width - rest + (rest <= 12 ? 12 : rest <= 20 ? 20 : 44);
}

template <class R>
inline Box box_of(const Bounds<R>& bounds, int base_x, int before, int after, int bytes, int room) {
    const R slack = R(1.0 / 256), limit = R(1 << 20);
    if (!(bounds.x_low > -limit && bounds.x_high < limit && bounds.y_low > -limit && bounds.y_high < limit)) return {};
    const int first = static_cast<int>(floor(bounds.x_low - slack)) - before, x = first - ((base_x + first) & 3);
    const int y = static_cast<int>(floor(bounds.y_low - slack)) - before;
    const int width = (static_cast<int>(floor(bounds.x_high + slack)) + after - x + 4) & ~3;
    const int height = static_cast<int>(floor(bounds.y_high + slack)) + after - y + 1;
    const int pitch = pitch_of(width, bytes);
    if (static_cast<long long>(pitch) * height * bytes > room || width > 4 * threads) return {};
    return {x, y, width, height, pitch, 65536u / static_cast<unsigned int>(width / 4) + 1};
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

// All threads of the block. Each keeps to one group of four columns and walks down the rows.
template <class Layout, class T, int K, class Border>
inline void stage(const Image<T, K, Border>& image, const Box& box, bool aligned, Stored<T, K>* pixels) {
    const int across = box.width / 4, down = threads / across;
    const int y = (threadIdx.x * box.reciprocal) >> 16, x = 4 * (threadIdx.x - y * across), column = image.base_x + x;
    const bool vector = !Same<Layout, Strided>::value && aligned && column >= 0 && column + 3 < image.width;
    const bool outside = Border::index(column, image.width) < 0;  // groups start at multiples of 4: then all four are
    if (y >= down) return;
    FourPixels<T, K>* to = reinterpret_cast<FourPixels<T, K>*>(pixels + y * box.pitch + x);
    for (int i = y; i < box.height; i += down) {
        const int row = Border::index(image.base_y + i, image.height);
        FourPixels<T, K> four;
        if (row < 0 || outside) {
            for (int j = 0; j < 4; ++j) four.v[j] = to_stored(image.fill);
        } else if (vector) {
            four = load_four<Layout, T, K>(image.address(column, row), image.offset);
        } else {
            for (int j = 0; j < 4; ++j) four.v[j] = to_stored(image.texel(x + j, i));
        }
        *to = four;
        to += down * (box.pitch / 4);
    }
}

}  // namespace cuaug
