#pragma once

#include "pixel.cuh"
#include "gpu/layout.cuh"

// Pixels in registers and shared memory. Elements narrower than 32 bits are held in 32-bit words, a pixel in one or two
// of them: for arrays of bytes the compiler emits a shift, a mask and a merge per element, which cost more than the
// sampling itself. A single element of 16 bits is held as it is.

namespace cuaug {

using Word = unsigned int;

// A value whose origin the compiler cannot see. The value stays in a register and is not computed again in each
// iteration. Results that depend on the value are computed where they are used, and occupy no register before.
inline int opaque(int number) {
    asm volatile("" : "+r"(number));
    return number;
}
inline long long opaque(long long number) {
    asm volatile("" : "+l"(number));
    return number;
}
inline const char* opaque(const char* address) {
    asm volatile("" : "+l"(address));
    return address;
}

template <class T>
constexpr int elements_per_word = sizeof(T) < 4 ? 4 / static_cast<int>(sizeof(T)) : 1;

template <int Bytes, int K, class T>
struct WordPixelStorage {
    T c[K];
};
template <int K, class T>
struct WordPixelStorage<1, K, T> {
    Word word[1];
};
template <class T>
struct WordPixelStorage<2, 2, T> {
    Word word[1];
};
template <class T>
struct alignas(8) WordPixelStorage<2, 3, T> {
    Word word[2];
};
template <class T>
struct alignas(8) WordPixelStorage<2, 4, T> {
    Word word[2];
};
template <class T>
struct alignas(16) WordPixelStorage<4, 4, T> {
    T c[4];
};

// A pixel of K channels, in words where elements are narrow.
template <class T, int K>
struct WordPixel : WordPixelStorage<sizeof(T), K, T> {};

template <class T, int K>
constexpr bool uses_words = sizeof(T) == 1 || (sizeof(T) == 2 && K > 1);

template <class T, int K>
inline RawPixel<T, K> to_raw_pixel(const WordPixel<T, K>& word_pixel) {
    RawPixel<T, K> out;
    if constexpr (uses_words<T, K>) {
        for (int k = 0; k < K; ++k) {
            const Word bits = word_pixel.word[k / elements_per_word<T>] >> (8 * sizeof(T) * (k % elements_per_word<T>));
            memcpy(&out.c[k], &bits, sizeof(T));
        }
    } else {
        for (int k = 0; k < K; ++k) out.c[k] = word_pixel.c[k];
    }
    return out;
}

template <class T, int K>
inline WordPixel<T, K> to_word_pixel(const RawPixel<T, K>& raw_pixel) {
    WordPixel<T, K> out = {};
    if constexpr (uses_words<T, K>) {
        for (int k = 0; k < K; ++k) {
            Word bits = 0;
            memcpy(&bits, &raw_pixel.c[k], sizeof(T));
            out.word[k / elements_per_word<T>] |= bits << (8 * sizeof(T) * (k % elements_per_word<T>));
        }
    } else {
        for (int k = 0; k < K; ++k) out.c[k] = raw_pixel.c[k];
    }
    return out;
}

// `a` if `chosen`, else `b`, by masks: for `?:` the compiler would put both structs into local memory and choose an
// address.
template <class T, int K>
inline WordPixel<T, K> bitwise_select(bool chosen, const WordPixel<T, K>& a, const WordPixel<T, K>& b) {
    using Unit = conditional_t<sizeof(WordPixel<T, K>) % 4 == 0, Word, unsigned short>;
    constexpr int units = sizeof(WordPixel<T, K>) / sizeof(Unit);
    const Unit mask = static_cast<Unit>(chosen ? ~0u : 0u);
    Unit x[units], y[units];
    memcpy(x, &a, sizeof(a));
    memcpy(y, &b, sizeof(b));
    for (int i = 0; i < units; ++i) x[i] = static_cast<Unit>((x[i] & mask) | (y[i] & ~mask));
    WordPixel<T, K> out;
    memcpy(&out, x, sizeof(out));
    return out;
}

// Four adjacent pixels, moved through shared memory in vectors of 16 bytes, or of 8 if a pixel has 2 bytes.
template <class T, int K>
struct alignas(sizeof(WordPixel<T, K>) == 2 ? 8 : 16) FourPixels {
    WordPixel<T, K> v[4];
};

// Four adjacent elements as they lie in memory: of one channel (Planar), or of packed pixels (Packed).
template <class T>
struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) FourElements {
    Word word[sizeof(T)];
};

// Selectors of __byte_perm(a, b, selector): hexadecimal digit i, counted from the right, says which byte becomes byte i
// of the result; 0 to 3 are the bytes of `a`, 4 to 7 those of `b`. `low_bytes` selects a0 b0 a1 b1, `high_bytes` a2 b2
// a3 b3, `low_halves` a0 a1 b0 b1, `high_halves` a2 a3 b2 b3.
constexpr int low_bytes = 0x5140, high_bytes = 0x7362, low_halves = 0x5410, high_halves = 0x7632;

// Selected bytes of two words; or 16-bit elements i % 2 of `a` and j % 2 of `b`, as one word. i and j are compile-time
// constants after unrolling.
inline Word permute_bytes(Word a, Word b, int selector) { return __byte_perm(a, b, selector); }
inline Word permute_halves(Word a, int i, Word b, int j) {
    return __byte_perm(a, b, (i % 2 ? 0x32 : 0x10) | (j % 2 ? 0x7600 : 0x5400));
}

// K vectors from memory -> four pixels.
template <class Layout, class T, int K>
inline FourPixels<T, K> elements_to_pixels(const FourElements<T>* from) {
    FourPixels<T, K> out = {};
    if constexpr (sizeof(T) == 1 && K > 1 && is_same_v<Layout, Planar>) {
        const Word none = 0, r = from[0].word[0], g = from[1].word[0];
        const Word b = K > 2 ? from[K > 2 ? 2 : 0].word[0] : none, a = K > 3 ? from[K > 3 ? 3 : 0].word[0] : none;
        const Word rg01 = permute_bytes(r, g, low_bytes), rg23 = permute_bytes(r, g, high_bytes),
                   ba01 = K > 3 ? permute_bytes(b, a, low_bytes) : b, ba23 = permute_bytes(b, a, high_bytes);
        // With three channels `ba01` is `b`, whose bytes 0 and 1 are those of pixels 0 and 1; byte 3 of a pixel is
        // unused.
        out.v[0].word[0] = permute_bytes(rg01, ba01, low_halves);
        out.v[1].word[0] = permute_bytes(rg01, ba01, K > 3 ? high_halves : 0x5532);
        out.v[2].word[0] = permute_bytes(rg23, ba23, low_halves);
        out.v[3].word[0] = permute_bytes(rg23, ba23, high_halves);
    } else if constexpr (sizeof(T) == 1) {
        Word word[K + 1] = {};
        for (int k = 0; k < K; ++k) word[k] = from[k].word[0];
        for (int i = 0; i < 4; ++i)  // bytes K i .. K i + 3; the last 4 - K are unused
            out.v[i].word[0] = __funnelshift_r(word[K * i / 4], word[K * i / 4 + 1], 8 * (K * i % 4));
    } else if constexpr (uses_words<T, K>) {
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < K; ++k) {
                const int p = is_same_v<Layout, Planar> ? 4 * k + i : K * i + k,
                          q = is_same_v<Layout, Planar> ? p + 4 : p + 1;
                const Word first = from[p / 4].word[p % 4 / 2];
                if (k % 2 == 0)
                    out.v[i].word[k / 2] =
                        k + 1 < K ? permute_halves(first, p, from[q / 4].word[q % 4 / 2], q) : first >> (16 * (p % 2));
            }
    } else {
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < K; ++k) {
                const int p = is_same_v<Layout, Planar> ? 4 * k + i : K * i + k;
                memcpy(&out.v[i].c[k], reinterpret_cast<const T*>(from) + p, sizeof(T));
            }
    }
    return out;
}

// Four pixels -> K vectors for memory.
template <class Layout, class T, int K>
inline void pixels_to_elements(const FourPixels<T, K>& from, FourElements<T>* out) {
    if constexpr (sizeof(T) == 1 && (is_same_v<Layout, Planar> || K == 1)) {
        const Word p0 = from.v[0].word[0], p1 = from.v[1].word[0], p2 = from.v[2].word[0], p3 = from.v[3].word[0];
        for (int k = 0; k < K; ++k) {
            const int channel_pair = k < 2 ? low_bytes : high_bytes;
            out[k].word[0] = permute_bytes(permute_bytes(p0, p1, channel_pair), permute_bytes(p2, p3, channel_pair),
                                           k % 2 ? high_halves : low_halves);
        }
    } else if constexpr (sizeof(T) == 1) {
        for (int k = 0; k < K; ++k) {  // bytes 4 k .. 4 k + 3 of the row, from pixel i = 4 k / K and the next
            const int i = 4 * k / K, first_byte = 4 * k % K, next = i < 3 ? i + 1 : 3, bytes_of_i = K - first_byte;
            const int selector = bytes_of_i >= 4   ? 0x3210
                                 : bytes_of_i == 3 ? (0x4000 | (0x210 + 0x111 * first_byte))
                                 : bytes_of_i == 2 ? (0x5400 | (0x10 + 0x11 * first_byte))
                                                   : (0x6540 | first_byte);
            out[k].word[0] = permute_bytes(from.v[i].word[0], from.v[next].word[0], selector);
        }
    } else if constexpr (uses_words<T, K>) {
        for (int p = 0; p < 4 * K; p += 2) {
            const int i = is_same_v<Layout, Planar> ? p % 4 : p / K, k = is_same_v<Layout, Planar> ? p / 4 : p % K;
            const int j = is_same_v<Layout, Planar> ? i + 1 : (p + 1) / K,
                      l = is_same_v<Layout, Planar> ? k : (p + 1) % K;
            out[p / 4].word[p % 4 / 2] = permute_halves(from.v[i].word[k / 2], k, from.v[j].word[l / 2], l);
        }
    } else {
        for (int i = 0; i < 4; ++i)
            for (int k = 0; k < K; ++k) {
                const int p = is_same_v<Layout, Planar> ? 4 * k + i : K * i + k;
                memcpy(reinterpret_cast<T*>(out) + p, &from.v[i].c[k], sizeof(T));
            }
    }
}

}  // namespace cuaug
