#pragma once

#include "rgba32.hpp"

// Rows of a batch, any dtype and layout, to and from groups of four channels. A pixel is four adjacent numbers: float,
// double, or for uint8 alone the bytes of a word (words.hpp).

namespace cuaug {

// to[i] = from[i * step]
template <class T, class R>
inline void load_row(const T* __restrict__ from, long long step, int count, R* __restrict__ to) {
    if (step == 1)
        for (int i = 0; i < count; ++i) to[i] = to_compute<R>(from[i]);
    else
        for (int i = 0; i < count; ++i) to[i] = to_compute<R>(from[i * step]);
}

template <class T, class R>
inline void store_row(const R* __restrict__ from, int count, T* __restrict__ to, long long step) {
    if (step == 1)
        for (int i = 0; i < count; ++i) to[i] = saturate_cast<T>(from[i]);
    else
        for (int i = 0; i < count; ++i) to[i * step] = saturate_cast<T>(from[i]);
}

template <class R>
inline void interleave4(const R* __restrict__ r, const R* __restrict__ g, const R* __restrict__ b,
                        const R* __restrict__ a, int count, R* __restrict__ pixels) {
    for (int i = 0; i < count; ++i) {
        pixels[4 * i] = r[i];
        pixels[4 * i + 1] = g[i];
        pixels[4 * i + 2] = b[i];
        pixels[4 * i + 3] = a[i];
    }
}

// Columns first .. first + count of a row. `scratch` holds 4 * count + 4 numbers.
template <class T, class R>
inline void load_pixels(const ChannelGroup& plane, int row, int first, int count, R* __restrict__ pixels,
                        R* __restrict__ scratch) {
    const T* at = reinterpret_cast<const T*>(plane.data) + row * plane.y_stride + first * plane.x_stride;
    if (plane.packed) {
        const int channels = plane.channels;
        load_row(at + plane.offset[0], 1, count * channels, channels == 4 ? pixels : scratch);
        if (channels == 3) {
            for (int i = 0; i < count; ++i) memcpy(pixels + 4 * i, scratch + 3 * i, 4 * sizeof(R));
        } else if (channels < 3) {
            for (int i = 0; i < count; ++i)
                for (int k = 0; k < 4; ++k) pixels[4 * i + k] = scratch[channels * i + (k < channels ? k : 0)];
        }
        return;
    }
    const R* row_of[4];
    for (int k = 0; k < 4; ++k) {
        const int c = k < plane.channels ? k : plane.channels - 1;
        row_of[k] = scratch + c * count;
        if constexpr (is_same_v<T, R>)
            if (plane.x_stride == 1) {
                row_of[k] = at + plane.offset[c];
                continue;
            }
        if (k == c) load_row(at + plane.offset[k], plane.x_stride, count, scratch + k * count);
    }
    interleave4(row_of[0], row_of[1], row_of[2], row_of[3], count, pixels);
}

template <class T, class R>
inline void store_pixels(const R* __restrict__ pixels, int count, const ChannelGroup& plane, int row, int first,
                         R* __restrict__ scratch) {
    if constexpr (is_same_v<T, uint8> && is_same_v<R, float>) {
        Rgba32* words = reinterpret_cast<Rgba32*>(scratch);
        to_rgba32(pixels, count, words);
        return store_rgba32(words, count, plane, row, first);
    }
    T* at = reinterpret_cast<T*>(plane.data) + row * plane.y_stride + first * plane.x_stride;
    if (plane.packed) {
        const int channels = plane.channels;
        if (channels < 4)
            for (int i = 0; i < count; ++i)
                for (int k = 0; k < channels; ++k) scratch[channels * i + k] = pixels[4 * i + k];
        store_row(channels == 4 ? pixels : scratch, count * channels, at + plane.offset[0], 1);
        return;
    }
    for (int k = 0; k < plane.channels; ++k) {
        T* to = at + plane.offset[k];
        if constexpr (is_same_v<T, R>)
            if (plane.x_stride == 1) {
                for (int i = 0; i < count; ++i) to[i] = pixels[4 * i + k];
                continue;
            }
        for (int i = 0; i < count; ++i) scratch[i] = pixels[4 * i + k];
        store_row(scratch, count, to, plane.x_stride);
    }
}

}  // namespace cuaug
