#pragma once

#include "channel_group.hpp"

// uint8 pixels as words of four bytes: a pixel is one load, two neighbours are one load too.

namespace cuaug {

inline Rgba32 rgba32_of(const Pixel<float, 4>& levels) {
    Rgba32 out = 0;
    for (int k = 0; k < 4; ++k) out |= static_cast<Rgba32>(levels.c[k]) << (8 * k);
    return out;
}

inline void load_rgba32(const ChannelGroup& plane, int row, int first, int count, Rgba32* __restrict__ words) {
    const uint8* at = reinterpret_cast<const uint8*>(plane.data) + row * plane.y_stride + first * plane.x_stride;
    if (plane.packed && plane.channels >= 3) {
        at += plane.offset[0];
        int i = 0;
        if (plane.channels == 4) {
            memcpy(words, at, 4 * static_cast<unsigned long>(count));
            return;
        }
#ifdef __SSSE3__
        const __m128i spread = _mm_setr_epi8(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
#ifdef __AVX512BW__
        const __m512i each = _mm512_maskz_broadcast_i32x4(0xffff, spread),
                      fours = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
        for (; i + 16 <= count; i += 16)
            _mm512_storeu_si512(
                words + i,
                _mm512_shuffle_epi8(
                    _mm512_maskz_permutexvar_epi32(0xffff, fours, _mm512_maskz_loadu_epi32(0x0fff, at + 3 * i)), each));
#endif
        for (; i + 6 <= count; i += 4)  // 16 bytes are read, 12 of them used
            _mm_storeu_si128(reinterpret_cast<__m128i*>(words + i),
                             _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 3 * i)), spread));
#endif
        for (; i + 1 < count; ++i) memcpy(words + i, at + 3 * i, 4);
        if (i < count) words[i] = at[3 * i] | at[3 * i + 1] << 8 | at[3 * i + 2] << 16;
        return;
    }
    const uint8 *r = at + plane.offset[0], *g = at + plane.offset[1], *b = at + plane.offset[2],
                *a = at + plane.offset[3];
    int i = 0;
    if (plane.x_stride == 1) {
#ifdef __SSE2__
        auto load = [](const uint8* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
        for (; i + 16 <= count; i += 16) {
            const __m128i vr = load(r + i), vg = load(g + i), vb = load(b + i), va = load(a + i);
            const __m128i rg0 = _mm_unpacklo_epi8(vr, vg), rg1 = _mm_unpackhi_epi8(vr, vg);
            const __m128i ba0 = _mm_unpacklo_epi8(vb, va), ba1 = _mm_unpackhi_epi8(vb, va);
            __m128i* to = reinterpret_cast<__m128i*>(words + i);
            _mm_storeu_si128(to, _mm_unpacklo_epi16(rg0, ba0));
            _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(rg0, ba0));
            _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(rg1, ba1));
            _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(rg1, ba1));
        }
#endif
        for (; i < count; ++i) words[i] = r[i] | g[i] << 8 | b[i] << 16 | static_cast<Rgba32>(a[i]) << 24;
        return;
    }
    for (long long s = plane.x_stride; i < count; ++i)
        words[i] = r[i * s] | g[i * s] << 8 | b[i * s] << 16 | static_cast<Rgba32>(a[i * s]) << 24;
}

inline void store_rgba32(const Rgba32* __restrict__ words, int count, const ChannelGroup& plane, int row, int first) {
    uint8* at = reinterpret_cast<uint8*>(plane.data) + row * plane.y_stride + first * plane.x_stride;
    if (plane.packed && plane.channels >= 3) {
        at += plane.offset[0];
        if (plane.channels == 4) {
            memcpy(at, words, 4 * static_cast<unsigned long>(count));
            return;
        }
        int i = 0;
#ifdef __SSSE3__
        const __m128i gather = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
#ifdef __AVX512BW__
        const __m512i each = _mm512_maskz_broadcast_i32x4(0xffff, gather),
                      threes = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
        for (; i + 16 <= count; i += 16)
            _mm512_mask_storeu_epi32(at + 3 * i, 0x0fff,
                                     _mm512_maskz_permutexvar_epi32(
                                         0xffff, threes, _mm512_shuffle_epi8(_mm512_loadu_si512(words + i), each)));
#endif
        for (; i + 6 <= count; i += 4)  // 16 bytes are written, the last 4 again by the next
            _mm_storeu_si128(reinterpret_cast<__m128i*>(at + 3 * i),
                             _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(words + i)), gather));
#endif
        for (; i < count; ++i)
            for (int k = 0; k < 3; ++k) at[3 * i + k] = static_cast<uint8>(words[i] >> (8 * k));
        return;
    }
    for (int k = 0; k < plane.channels; ++k) {
        uint8* to = at + plane.offset[k];
        if (plane.x_stride == 1)
            for (int i = 0; i < count; ++i) to[i] = static_cast<uint8>(words[i] >> (8 * k));
        else
            for (int i = 0; i < count; ++i) to[i * plane.x_stride] = static_cast<uint8>(words[i] >> (8 * k));
    }
}

// Half to even, then clamp, as from_real<uint8>.
inline void to_rgba32(const float* __restrict__ pixels, int count, Rgba32* __restrict__ words) {
    int i = 0;
#ifdef __SSE2__
    auto levels = [&](int k) {  // a NaN passes the minimum, and like all that is too low it becomes 0
        return _mm_cvtps_epi32(_mm_min_ps(_mm_set1_ps(255.0f), _mm_loadu_ps(pixels + 4 * k)));
    };
    for (; i + 4 <= count; i += 4)
        _mm_storeu_si128(
            reinterpret_cast<__m128i*>(words + i),
            _mm_packus_epi16(_mm_packs_epi32(levels(i), levels(i + 1)), _mm_packs_epi32(levels(i + 2), levels(i + 3))));
#endif
    for (; i < count; ++i) {
        uint8 bytes[4];
        for (int k = 0; k < 4; ++k) bytes[k] = saturate_cast<uint8>(pixels[4 * i + k]);
        memcpy(words + i, bytes, 4);
    }
}

}  // namespace cuaug
