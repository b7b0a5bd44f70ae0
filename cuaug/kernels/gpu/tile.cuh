#pragma once

#include "../image.cuh"
#include "../geometry/local.cuh"
#include "bytes.cuh"
#include "layout.cuh"

// A block makes one tile of the output from one box of the input. The box is staged in shared memory with its border already
// resolved, so that sampling has neither tests nor uncoalesced loads.

namespace cuaug {

constexpr int tile_width = 32, tile_height = 32, threads = 256;
constexpr int box_bytes = 32768;

// The input pixels a tile needs; empty if they are unknown or too many.
struct Box {
    int x, y;            // in base coordinates; x so that the first column is a multiple of 4 in the image
    int width, height;   // width a multiple of 4
    int pitch;
};

// Pixels of a row from one to the next. A warp samples a patch of 8x4 pixels, turned by any angle; with a pitch of 12 or 20
// (mod 32) words its taps lie in different banks nearly always: the closest two pixels that share a bank are 5 apart.
inline int pitch_of(int width, int bytes) {
    if (bytes > 4) return width | 1;
    const int rest = width & 31;
    return (width & ~31) + (rest <= 12 ? 12 : rest <= 20 ? 20 : 44);
}

template <class R>
inline Box box_of(const Bounds<R>& bounds, int base_x, int before, int after, int bytes) {
    const R slack = R(1.0 / 256), limit = R(1 << 20);
    if (!(bounds.x_low > -limit && bounds.x_high < limit && bounds.y_low > -limit && bounds.y_high < limit)) return {};
    const int first = static_cast<int>(floor(bounds.x_low - slack)) - before, x = first - ((base_x + first) & 3);
    const int y = static_cast<int>(floor(bounds.y_low - slack)) - before;
    const int width = (static_cast<int>(floor(bounds.x_high + slack)) + after - x + 4) & ~3;
    const int height = static_cast<int>(floor(bounds.y_high + slack)) + after - y + 1;
    const int pitch = pitch_of(width, bytes);
    if (static_cast<long long>(pitch) * height * bytes > box_bytes) return {};
    return {x, y, width, height, pitch};
}

template <class T, int K>
inline Stored<T, K> to_stored(const Texel<T, K>& texel) {
    Stored<T, K> out = {};
    for (int k = 0; k < K; ++k) out.c[k] = texel.c[k];
    return out;
}

template <class T, int K>
inline Texel<T, K> to_texel(const Stored<T, K>& stored) {
    Texel<T, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = stored.c[k];
    return out;
}

// The staged box, seen by a sampler whose coordinates count from the box's corner.
template <class T, int K>
struct Staged {
    const Stored<T, K>* pixels;
    int pitch;

    Texel<T, K> texel(int x, int y) const { return to_texel(pixels[y * pitch + x]); }
    Pixel<Real<T>, K> pixel(int x, int y) const { return to_pixel<Real<T>>(texel(x, y)); }
};

// Four uint8 pixels of a row inside the image, four bytes at a time.
template <class Layout, int K, class Border>
inline void load_four(const Image<uint8, K, Border>& image, int column, int row, Word* pixel) {
    const uint8* at = image.data + row * image.y_stride + column * image.x_stride;
    Word word[K];
    if constexpr (Same<Layout, Planar>::value) {
        for (int k = 0; k < K; ++k) word[k] = *reinterpret_cast<const Word*>(at + image.offset[k]);
        planes_to_pixels<K>(word, pixel);
    } else {
        for (int k = 0; k < K; ++k) word[k] = reinterpret_cast<const Word*>(at)[k];
        packed_to_pixels<K>(word, pixel);
    }
}

// All threads of the block; a thread moves every 256th pixel, or for uint8 every 256th group of four.
template <class Layout, class T, int K, class Border>
inline void stage(const Image<T, K, Border>& image, const Box& box, bool aligned, Stored<T, K>* pixels) {
    constexpr int step = sizeof(T) == 1 && !Same<Layout, Strided>::value ? 4 : 1;
    const int columns = box.width / step, count = columns * box.height;
    const unsigned int reciprocal = 0xffffffffu / columns + 1;  // exact for i * columns < 2^32
    for (int i = threadIdx.x; i < count; i += threads) {
        const int y = columns == 1 ? i : __umulhi(i, reciprocal), x = (i - y * columns) * step;
        Stored<T, K>* to = pixels + y * box.pitch + x;
        if constexpr (step == 4) {
            const int column = image.base_x + box.x + x, row = Border::index(image.base_y + box.y + y, image.height);
            if (aligned && row >= 0 && column >= 0 && column + 3 < image.width) {
                Four<Word> four;
                load_four<Layout>(image, column, row, four.v);
                *reinterpret_cast<Four<Word>*>(to) = four;
                continue;
            }
        }
        for (int j = 0; j < step; ++j) to[j] = to_stored(image.texel(box.x + x + j, box.y + y));
    }
}

// Four adjacent output pixels of a row.
template <class Layout, class T, int K>
inline void store_four(T* at, const long long* offset, long long x_stride, int count, bool aligned, const Stored<T, K>* pixel) {
    if constexpr (!Same<Layout, Strided>::value) {
        if (aligned && count >= 4) {
            if constexpr (sizeof(T) == 1) {
                Word word[K];
                const Word* words = reinterpret_cast<const Word*>(pixel);
                if constexpr (Same<Layout, Planar>::value) {
                    pixels_to_planes<K>(words, word);
                    for (int k = 0; k < K; ++k) *reinterpret_cast<Word*>(at + offset[k]) = word[k];
                } else {
                    pixels_to_packed<K>(words, word);
                    for (int k = 0; k < K; ++k) reinterpret_cast<Word*>(at)[k] = word[k];
                }
            } else {
                for (int k = 0; k < K; ++k) {
                    Four<T> four;
                    if constexpr (Same<Layout, Planar>::value) {
                        for (int i = 0; i < 4; ++i) four.v[i] = pixel[i].c[k];
                        *reinterpret_cast<Four<T>*>(at + offset[k]) = four;
                    } else {
                        for (int i = 0; i < 4; ++i) four.v[i] = pixel[(4 * k + i) / K].c[(4 * k + i) % K];
                        reinterpret_cast<Four<T>*>(at)[k] = four;
                    }
                }
            }
            return;
        }
    }
    for (int i = 0; i < 4 && i < count; ++i)
        for (int k = 0; k < K; ++k) at[offset[k] + i * x_stride] = pixel[i].c[k];
}

}  // namespace cuaug
