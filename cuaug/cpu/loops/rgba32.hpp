#pragma once

#include "channel_group.hpp"

// uint8 pixels of four bytes each: one load reads a pixel, or two neighbours. Bytes beyond an image's channels hold any
// value, and are not stored. deinterleave.hpp says why AVX-512 intrinsics have full masks.

namespace cuaug {

using Rgba32 = unsigned int;

inline Rgba32 rgba32_of(const Pixel<float, 4>& levels) {
    Rgba32 out = 0;
    for (int k = 0; k < 4; ++k) out |= static_cast<Rgba32>(levels.c[k]) << (8 * k);
    return out;
}

inline void load_rgba32(const ChannelGroup& group, int row, int first, int count, Rgba32* __restrict__ pixels) {
    const uint8* in = reinterpret_cast<const uint8*>(group.data) + row * group.y_stride + first * group.x_stride;
    if (group.packed && group.channels >= 3) {
        in += group.offset[0];
        int i = 0;
        if (group.channels == 4) {
            memcpy(pixels, in, 4 * static_cast<unsigned long>(count));
            return;
        }
#ifdef __SSSE3__
        const __m128i byte_order = _mm_setr_epi8(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
#ifdef __AVX512BW__
        const __m512i byte_order_per_lane = _mm512_maskz_broadcast_i32x4(0xffff, byte_order),
                      dword_order = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
        for (; i + 16 <= count; i += 16)
            _mm512_storeu_si512(
                pixels + i, _mm512_shuffle_epi8(_mm512_maskz_permutexvar_epi32(
                                                    0xffff, dword_order, _mm512_maskz_loadu_epi32(0x0fff, in + 3 * i)),
                                                byte_order_per_lane));
#endif
        for (; i + 6 <= count; i += 4)  // 16 bytes are read, 12 are used
            _mm_storeu_si128(
                reinterpret_cast<__m128i*>(pixels + i),
                _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + 3 * i)), byte_order));
#endif
        for (; i + 1 < count; ++i) memcpy(pixels + i, in + 3 * i, 4);
        if (i < count) pixels[i] = in[3 * i] | in[3 * i + 1] << 8 | in[3 * i + 2] << 16;
        return;
    }
    const uint8 *r = in + group.offset[0], *g = in + group.offset[1], *b = in + group.offset[2],
                *a = in + group.offset[3];
    int i = 0;
    if (group.x_stride == 1) {
#ifdef __SSE2__
        auto load = [](const uint8* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
        for (; i + 16 <= count; i += 16) {
            const __m128i vr = load(r + i), vg = load(g + i), vb = load(b + i), va = load(a + i);
            const __m128i rg0 = _mm_unpacklo_epi8(vr, vg), rg1 = _mm_unpackhi_epi8(vr, vg);
            const __m128i ba0 = _mm_unpacklo_epi8(vb, va), ba1 = _mm_unpackhi_epi8(vb, va);
            __m128i* to = reinterpret_cast<__m128i*>(pixels + i);
            _mm_storeu_si128(to, _mm_unpacklo_epi16(rg0, ba0));
            _mm_storeu_si128(to + 1, _mm_unpackhi_epi16(rg0, ba0));
            _mm_storeu_si128(to + 2, _mm_unpacklo_epi16(rg1, ba1));
            _mm_storeu_si128(to + 3, _mm_unpackhi_epi16(rg1, ba1));
        }
#endif
        for (; i < count; ++i) pixels[i] = r[i] | g[i] << 8 | b[i] << 16 | static_cast<Rgba32>(a[i]) << 24;
        return;
    }
    for (long long s = group.x_stride; i < count; ++i)
        pixels[i] = r[i * s] | g[i * s] << 8 | b[i * s] << 16 | static_cast<Rgba32>(a[i * s]) << 24;
}

inline void store_rgba32(const Rgba32* __restrict__ pixels, int count, const ChannelGroup& group, int row, int first) {
    uint8* out = reinterpret_cast<uint8*>(group.data) + row * group.y_stride + first * group.x_stride;
    if (group.packed && group.channels >= 3) {
        out += group.offset[0];
        if (group.channels == 4) {
            memcpy(out, pixels, 4 * static_cast<unsigned long>(count));
            return;
        }
        int i = 0;
#ifdef __SSSE3__
        const __m128i byte_order = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
#ifdef __AVX512BW__
        const __m512i byte_order_per_lane = _mm512_maskz_broadcast_i32x4(0xffff, byte_order),
                      dword_order = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
        for (; i + 16 <= count; i += 16)
            _mm512_mask_storeu_epi32(
                out + 3 * i, 0x0fff,
                _mm512_maskz_permutexvar_epi32(
                    0xffff, dword_order, _mm512_shuffle_epi8(_mm512_loadu_si512(pixels + i), byte_order_per_lane)));
#endif
        for (; i + 6 <= count; i += 4)  // 16 bytes are written, and the next store overwrites the last 4
            _mm_storeu_si128(
                reinterpret_cast<__m128i*>(out + 3 * i),
                _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels + i)), byte_order));
#endif
        for (; i < count; ++i)
            for (int k = 0; k < 3; ++k) out[3 * i + k] = static_cast<uint8>(pixels[i] >> (8 * k));
        return;
    }
    for (int k = 0; k < group.channels; ++k) {
        uint8* to = out + group.offset[k];
        if (group.x_stride == 1)
            for (int i = 0; i < count; ++i) to[i] = static_cast<uint8>(pixels[i] >> (8 * k));
        else
            for (int i = 0; i < count; ++i) to[i * group.x_stride] = static_cast<uint8>(pixels[i] >> (8 * k));
    }
}

// Rounds half to even and clamps, like saturate_cast<uint8>.
inline void to_rgba32(const float* __restrict__ in, int count, Rgba32* __restrict__ out) {
    int i = 0;
#ifdef __SSE2__
    auto levels_of_pixel = [&](int pixel) {  // a NaN becomes 0, as in interleave_rgb8
        return _mm_cvtps_epi32(_mm_min_ps(_mm_set1_ps(255.0f), _mm_loadu_ps(in + 4 * pixel)));
    };
    for (; i + 4 <= count; i += 4)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                         _mm_packus_epi16(_mm_packs_epi32(levels_of_pixel(i), levels_of_pixel(i + 1)),
                                          _mm_packs_epi32(levels_of_pixel(i + 2), levels_of_pixel(i + 3))));
#endif
    for (; i < count; ++i) {
        uint8 bytes[4];
        for (int k = 0; k < 4; ++k) bytes[k] = saturate_cast<uint8>(in[4 * i + k]);
        memcpy(out + i, bytes, 4);
    }
}

}  // namespace cuaug
