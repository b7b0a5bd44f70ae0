#pragma once

#include "../kernels/pixel.cuh"
#include "../kernels/record.cuh"
#include "convert.hpp"

// Rows of a batch, any dtype and layout, to and from groups of four channels: the only code of the CPU that knows either.
// A pixel is four adjacent numbers: float, double, or for uint8 alone the bytes of a word.

namespace cuaug {

using Word = unsigned int;

// Four channels of one frame; those beyond the last repeat it. Strides in elements.
struct Plane {
    char* data;
    long long offset[4];
    long long y_stride;
    long long x_stride;
    int channels;        // 1..4 of them real
    bool packed;         // adjacent in memory, and so are pixels
};

template <class T>
inline Plane plane(const View& view, long long n, long long t, int c, int channels) {
    Plane out = {reinterpret_cast<char*>(static_cast<T*>(view.data) + n * view.n + t * view.t), {}, view.y, view.x, channels - c, false};
    if (out.channels > 4) out.channels = 4;
    for (int k = 0; k < 4; ++k) out.offset[k] = (k < out.channels ? c + k : channels - 1) * view.c;
    out.packed = view.c == 1 && view.x == out.channels;
    return out;
}

template <class T>
inline Pixel<Real<T>, 4> fill_of(const Fill& fill, long long n, int c, int channels) {
    using R = Real<T>;
    Pixel<R, 4> out;
    for (int k = 0; k < 4; ++k)
        out.c[k] = to_real<R>(from_real<T>(static_cast<R>(fill_value(fill, n, c + k < channels ? c + k : channels - 1))));
    return out;
}

// Calls `use` with a value of the type or struct that a name stands for.
template <class Use>
inline auto with_source(native::Dtype dtype, const Use& use) {
    switch (dtype) {
        case native::Dtype::uint8: return use(uint8());
        case native::Dtype::uint16: return use(uint16());
        case native::Dtype::int16: return use(int16());
        case native::Dtype::float16: return use(float16());
        case native::Dtype::bfloat16: return use(bfloat16());
        case native::Dtype::float32: return use(float32());
        default: return use(float64());
    }
}

template <class Use>
inline auto with_dtype(native::Dtype dtype, const Use& use) {
    switch (dtype) {
        case native::Dtype::int32: return use(int32());
        case native::Dtype::int64: return use(int64());
        default: return with_source(dtype, use);
    }
}

// to[i] = from[i * step]
template <class T, class R>
inline void load_row(const T* __restrict__ from, long long step, int count, R* __restrict__ to) {
    if (step == 1)
        for (int i = 0; i < count; ++i) to[i] = to_real<R>(from[i]);
    else
        for (int i = 0; i < count; ++i) to[i] = to_real<R>(from[i * step]);
}

template <class T, class R>
inline void store_row(const R* __restrict__ from, int count, T* __restrict__ to, long long step) {
    if (step == 1)
        for (int i = 0; i < count; ++i) to[i] = from_real<T>(from[i]);
    else
        for (int i = 0; i < count; ++i) to[i * step] = from_real<T>(from[i]);
}

template <class R>
inline void interleave(const R* __restrict__ r, const R* __restrict__ g, const R* __restrict__ b, const R* __restrict__ a,
                       int count, R* __restrict__ pixels) {
    for (int i = 0; i < count; ++i) {
        pixels[4 * i] = r[i];
        pixels[4 * i + 1] = g[i];
        pixels[4 * i + 2] = b[i];
        pixels[4 * i + 3] = a[i];
    }
}

// Columns first .. first + count of a row. `scratch` holds 4 * count + 4 numbers.
template <class T, class R>
inline void load_pixels(const Plane& plane, int row, int first, int count, R* __restrict__ pixels, R* __restrict__ scratch) {
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
        if constexpr (Same<T, R>::value)
            if (plane.x_stride == 1) {
                row_of[k] = at + plane.offset[c];
                continue;
            }
        if (k == c) load_row(at + plane.offset[k], plane.x_stride, count, scratch + k * count);
    }
    interleave(row_of[0], row_of[1], row_of[2], row_of[3], count, pixels);
}

template <class T, class R>
inline void store_pixels(const R* __restrict__ pixels, int count, const Plane& plane, int row, int first, R* __restrict__ scratch) {
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
        if constexpr (Same<T, R>::value)
            if (plane.x_stride == 1) {
                for (int i = 0; i < count; ++i) to[i] = pixels[4 * i + k];
                continue;
            }
        for (int i = 0; i < count; ++i) scratch[i] = pixels[4 * i + k];
        store_row(scratch, count, to, plane.x_stride);
    }
}

}  // namespace cuaug
