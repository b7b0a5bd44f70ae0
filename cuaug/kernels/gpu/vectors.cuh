#pragma once

#include "gpu/layout.cuh"
#include "gpu/word_pixel.cuh"

// Moves four adjacent pixels of a row, or words of them, between memory and registers.

namespace cuaug {

// `Fours` times four adjacent pixels, as they lie in memory.
template <class T, int K, int Fours>
struct Vectors {
    FourElements<T> elements[Fours][K];
};

template <class T, int VectorsPerLoad>
struct alignas(VectorsPerLoad * sizeof(FourElements<T>) < 16 ? VectorsPerLoad * sizeof(FourElements<T>) : 16)
    AlignedVector {
    FourElements<T> elements[VectorsPerLoad];
};

// VectorsPerLoad: how many vectors of four elements one load reads; addresses are aligned to all of them, up to 16
// bytes.
template <class Layout, class T, int K, int Fours = 1, int VectorsPerLoad = 1>
inline Vectors<T, K, Fours> load_vectors(const T* at, const long long* offset) {
    constexpr bool planar = is_same_v<Layout, Planar>;
    Vectors<T, K, Fours> out;
    for (int v = 0; v < K * Fours; v += VectorsPerLoad) {
        const int k = v / Fours, j = v % Fours;
        const AlignedVector<T, VectorsPerLoad>* source =
            reinterpret_cast<const AlignedVector<T, VectorsPerLoad>*>(planar ? at + offset[k] + 4 * j : at + 4 * v);
        __builtin_assume(__isGlobal(source));
        const AlignedVector<T, VectorsPerLoad> run = *source;
        for (int i = 0; i < VectorsPerLoad; ++i)
            (planar ? out.elements[j + i][k] : out.elements[(v + i) / K][(v + i) % K]) = run.elements[i];
    }
    return out;
}

// Stores to global memory. The compiler does not know that a pointer points there if the pointer was loaded from shared
// memory or is incremented by a loop. If only some stores contain the assumption, it keeps two copies of the pointer.
template <class V, class T>
inline void store_as(T* at, const V& value) {
    V* target = reinterpret_cast<V*>(at);
    __builtin_assume(__isGlobal(target));
    *target = value;
}

template <class Layout, class T, int K>
inline void store_elements(T* at, const long long* offset, const FourElements<T> (&elements)[K]) {
    for (int k = 0; k < K; ++k) store_as(is_same_v<Layout, Planar> ? at + offset[k] : at + 4 * k, elements[k]);
}

template <class Layout, class T, int K>
inline void store_four(T* at, const long long* offset, const FourPixels<T, K>& pixels) {
    FourElements<T> to[K];
    pixels_to_elements<Layout, T, K>(pixels, to);
    store_elements<Layout, T, K>(at, offset, to);
}

// Stores word i of each channel's four pixels.
template <class T, int K>
inline void store_words(T* at, const long long* offset, const WordPixel<T, 4> (&channel_pixels)[K], int i) {
    for (int k = 0; k < K; ++k) store_as(at + offset[k], channel_pixels[k].word[i]);
}

// Stores two adjacent packed pixels of 16-bit elements, the first at an even column.
template <class T, int K>
inline void store_pixel_pair(T* at, const WordPixel<T, K>& left, const WordPixel<T, K>& right) {
    for (int i = 0; i < K; ++i) {
        const int p = 2 * i, q = p + 1;
        store_as(at + p, permute_halves((p < K ? left : right).word[p % K / 2], p % K,
                                        (q < K ? left : right).word[q % K / 2], q % K));
    }
}

// Loads `count` pixels, at most four; the last one is repeated. `aligned`: four may be moved as vectors.
template <class Layout, class T, int K>
inline FourPixels<T, K> load_pixels(const T* at, const long long* offset, int step, bool aligned, int count) {
    if (!is_same_v<Layout, Strided> && aligned && count == 4)
        return elements_to_pixels<Layout, T, K>(load_vectors<Layout, T, K>(at, offset).elements[0]);
    FourPixels<T, K> pixels;
    for (int j = 0; j < 4; ++j) {
        RawPixel<T, K> raw_pixel;
        for (int k = 0; k < K; ++k) raw_pixel.c[k] = at[offset[k] + static_cast<long long>(min(j, count - 1)) * step];
        pixels.v[j] = to_word_pixel(raw_pixel);
    }
    return pixels;
}

// Stores the first `channels` channels of `count` pixels.
template <class Layout, class T, int K>
inline void store_pixels(T* at, const long long* offset, int step, bool aligned, int count, int channels,
                         const FourPixels<T, K>& pixels) {
    if (!is_same_v<Layout, Strided> && aligned && count == 4) return store_four<Layout, T, K>(at, offset, pixels);
    for (int j = 0; j < 4; ++j)
        for (int k = 0; k < K; ++k)
            if (j < count && k < channels)
                at[offset[k] + static_cast<long long>(j) * step] = to_raw_pixel(pixels.v[j]).c[k];
}

}  // namespace cuaug
