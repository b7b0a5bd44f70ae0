#pragma once

#include "layout.cuh"
#include "words.cuh"

// Four adjacent pixels of a row, between memory and registers.

namespace cuaug {

// As they lie in memory.
template <class T, int K> struct Vectors { FourElements<T> of[K]; };

template <class Layout, class T, int K>
inline Vectors<T, K> load_four(const T* at, const long long* offset) {
    Vectors<T, K> from;
    for (int k = 0; k < K; ++k) {
        const FourElements<T>* source = reinterpret_cast<const FourElements<T>*>(Same<Layout, Planar>::value ? at + offset[k] : at + 4 * k);
        __builtin_assume(__isGlobal(source));
        from.of[k] = *source;
    }
    return from;
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

// `count` pixels, of at most four; those beyond repeat the last. `aligned`: four may be moved as vectors.
template <class Layout, class T, int K>
inline FourPixels<T, K> load_pixels(const T* at, const long long* offset, int step, bool aligned, int count) {
    if (!Same<Layout, Strided>::value && aligned && count == 4) return gather<Layout, T, K>(load_four<Layout, T, K>(at, offset).of);
    FourPixels<T, K> pixels;
    for (int j = 0; j < 4; ++j) {
        Texel<T, K> texel;
        for (int k = 0; k < K; ++k) texel.c[k] = at[offset[k] + min(j, count - 1) * step];
        pixels.v[j] = to_stored(texel);
    }
    return pixels;
}

// The first `channels` of them.
template <class Layout, class T, int K>
inline void store_pixels(T* at, const long long* offset, int step, bool aligned, int count, int channels, const FourPixels<T, K>& pixels) {
    if (!Same<Layout, Strided>::value && aligned && count == 4) return store_four<Layout, T, K>(at, offset, pixels);
    for (int j = 0; j < count; ++j)
        for (int k = 0; k < K; ++k)
            if (k < channels) at[offset[k] + j * step] = to_texel(pixels.v[j]).c[k];
}

}  // namespace cuaug
