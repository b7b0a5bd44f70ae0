#pragma once

#include "rgba32.hpp"

// Loads a row of pixels of any dtype and layout as four adjacent floats or doubles per pixel, and stores such a row.
// Numbers beyond the image's channels hold any value, and are not stored. rgba32.hpp does the same with uint8 pixels as
// four bytes.

namespace cuaug {

// out[i] = in[i * step]
template <class T, class R>
inline void load_row(const T* __restrict__ in, long long step, int count, R* __restrict__ out) {
    if (step == 1)
        for (int i = 0; i < count; ++i) out[i] = to_compute<R>(in[i]);
    else
        for (int i = 0; i < count; ++i) out[i] = to_compute<R>(in[i * step]);
}

// out[i] = in[i * step] * factor
template <class T, class R>
inline void load_row(const T* __restrict__ in, long long step, int count, R factor, R* __restrict__ out) {
    if (step == 1)
        for (int i = 0; i < count; ++i) out[i] = to_compute<R>(in[i]) * factor;
    else
        for (int i = 0; i < count; ++i) out[i] = to_compute<R>(in[i * step]) * factor;
}

template <class T, class R>
inline void store_row(const R* __restrict__ in, int count, T* __restrict__ out, long long step) {
    if (step == 1)
        for (int i = 0; i < count; ++i) out[i] = saturate_cast<T>(in[i]);
    else
        for (int i = 0; i < count; ++i) out[i * step] = saturate_cast<T>(in[i]);
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

// Loads columns first .. first + count - 1 of a row. scratch: [4 * count]
template <class T, class R>
inline void load_pixels(const ChannelGroup& group, int row, int first, int count, R* __restrict__ pixels,
                        R* __restrict__ scratch) {
    const T* in = reinterpret_cast<const T*>(group.data) + row * group.y_stride + first * group.x_stride;
    if (group.packed) {
        const int channels = group.channels;
        load_row(in + group.offset[0], 1, count * channels, channels == 4 ? pixels : scratch);
        if (channels == 3) {
            for (int i = 0; i < count; ++i) memcpy(pixels + 4 * i, scratch + 3 * i, 4 * sizeof(R));
        } else if (channels < 3) {
            for (int i = 0; i < count; ++i)
                for (int k = 0; k < 4; ++k) pixels[4 * i + k] = scratch[channels * i + (k < channels ? k : 0)];
        }
        return;
    }
    const R* channel[4];
    for (int k = 0; k < 4; ++k) {
        const int c = k < group.channels ? k : group.channels - 1;
        channel[k] = scratch + c * count;
        if constexpr (is_same_v<T, R>)
            if (group.x_stride == 1) {
                channel[k] = in + group.offset[c];
                continue;
            }
        if (k == c) load_row(in + group.offset[k], group.x_stride, count, scratch + k * count);
    }
    interleave4(channel[0], channel[1], channel[2], channel[3], count, pixels);
}

template <class T, class R>
inline void store_pixels(const R* __restrict__ pixels, int count, const ChannelGroup& group, int row, int first,
                         R* __restrict__ scratch) {
    if constexpr (is_same_v<T, uint8> && is_same_v<R, float>) {
        Rgba32* rgba32 = reinterpret_cast<Rgba32*>(scratch);
        to_rgba32(pixels, count, rgba32);
        return store_rgba32(rgba32, count, group, row, first);
    }
    T* out_row = reinterpret_cast<T*>(group.data) + row * group.y_stride + first * group.x_stride;
    if (group.packed) {
        const int channels = group.channels;
        if (channels < 4)
            for (int i = 0; i < count; ++i)
                for (int k = 0; k < channels; ++k) scratch[channels * i + k] = pixels[4 * i + k];
        store_row(channels == 4 ? pixels : scratch, count * channels, out_row + group.offset[0], 1);
        return;
    }
    for (int k = 0; k < group.channels; ++k) {
        T* out = out_row + group.offset[k];
        if constexpr (is_same_v<T, R>)
            if (group.x_stride == 1) {
                for (int i = 0; i < count; ++i) out[i] = pixels[4 * i + k];
                continue;
            }
        for (int i = 0; i < count; ++i) scratch[i] = pixels[4 * i + k];
        store_row(scratch, count, out, group.x_stride);
    }
}

}  // namespace cuaug
