#pragma once

#include "channel_group.hpp"

// Converts packed uint8 pixels of three channels to one array of numbers per channel, and back. Some AVX-512 intrinsics
// are the masked ones with a full mask, because GCC 12 warns of an uninitialized operand in the headers of the unmasked
// ones.

namespace cuaug {

// Whether the functions below use SIMD instructions.
#ifdef __AVX2__
constexpr bool deinterleaves_with_simd = true;
#else
constexpr bool deinterleaves_with_simd = false;
#endif

// out[k][i] = in[3 i + k] * factor
template <int Pitch>
__attribute__((noinline)) void deinterleave_rgb8(const uint8* __restrict__ in, int count, float factor,
                                                 float (*__restrict__ out)[Pitch]) {
    int i = 0;
#if defined(__AVX512BW__)
    // Each 128-bit quarter gets four pixels of three bytes; one shuffle gives four 32-bit integers of a channel, and
    // the shuffle of the next channel has indices one higher.
    const __m512i dword_order = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11),
                  ones = _mm512_set1_epi32(1);
    const __m512i red_shuffle =
        _mm512_maskz_broadcast_i32x4(0xffff, _mm_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1));
    for (; i + 16 <= count; i += 16) {
        const __m512i pixels =
            _mm512_maskz_permutexvar_epi32(0xffff, dword_order, _mm512_maskz_loadu_epi32(0x0fff, in + 3 * i));
        __m512i shuffle = red_shuffle;
        for (int k = 0; k < 3; ++k, shuffle = _mm512_add_epi32(shuffle, ones))
            _mm512_storeu_ps(out[k] + i, _mm512_maskz_cvtepi32_ps(0xffff, _mm512_shuffle_epi8(pixels, shuffle)) *
                                             _mm512_set1_ps(factor));
    }
#elif defined(__AVX2__)
    const __m256i ones = _mm256_set1_epi32(1);
    const __m256i red_shuffle = _mm256_setr_epi8(0, -1, -1, -1, 3, -1, -1, -1, 6, -1, -1, -1, 9, -1, -1, -1, 4, -1, -1,
                                                 -1, 7, -1, -1, -1, 10, -1, -1, -1, 13, -1, -1, -1);
    auto load = [&](int offset) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + offset)); };
    for (; i + 8 <= count; i += 8) {
        const __m256i pixels = _mm256_inserti128_si256(_mm256_castsi128_si256(load(3 * i)), load(3 * i + 8), 1);
        __m256i shuffle = red_shuffle;
        for (int k = 0; k < 3; ++k, shuffle = _mm256_add_epi32(shuffle, ones))
            _mm256_storeu_ps(out[k] + i,
                             _mm256_cvtepi32_ps(_mm256_shuffle_epi8(pixels, shuffle)) * _mm256_set1_ps(factor));
    }
#endif
    for (; i < count; ++i)
        for (int k = 0; k < 3; ++k) out[k][i] = static_cast<float>(in[3 * i + k]) * factor;
}

// out[3 i + k] = in[k][i] * factor, rounded half to even and clamped, like saturate_cast<uint8>.
template <int Pitch>
__attribute__((noinline)) void interleave_rgb8(const float (*__restrict__ in)[Pitch], int count, float factor,
                                               uint8* __restrict__ out) {
    int i = 0;
#ifdef __AVX2__  // implied by AVX-512
    // Saturating packs leave each 128-bit lane with four reds, four greens, four blues and the blues again. The minimum
    // returns a NaN as it is; a NaN converts to the lowest integer, and becomes 0 like every negative value.
    const __m128i byte_order = _mm_setr_epi8(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, -1, -1, -1, -1);
#endif
#if defined(__AVX512BW__)
    const __m512i byte_order_per_lane = _mm512_maskz_broadcast_i32x4(0xffff, byte_order),
                  dword_order = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11, 15);
    auto levels = [&](int k) {
        return _mm512_maskz_cvtps_epi32(
            0xffff,
            _mm512_maskz_min_ps(0xffff, _mm512_set1_ps(255.0f), _mm512_loadu_ps(in[k] + i) * _mm512_set1_ps(factor)));
    };
    for (; i + 16 <= count; i += 16) {
        const __m512i blue = levels(2), bytes = _mm512_packus_epi16(_mm512_packs_epi32(levels(0), levels(1)),
                                                                    _mm512_packs_epi32(blue, blue));
        _mm512_mask_storeu_epi32(
            out + 3 * i, 0x0fff,
            _mm512_maskz_permutexvar_epi32(0xffff, dword_order, _mm512_shuffle_epi8(bytes, byte_order_per_lane)));
    }
#elif defined(__AVX2__)
    const __m256i byte_order_per_lane = _mm256_broadcastsi128_si256(byte_order);
    auto levels = [&](int k) {
        return _mm256_cvtps_epi32(
            _mm256_min_ps(_mm256_set1_ps(255.0f), _mm256_loadu_ps(in[k] + i) * _mm256_set1_ps(factor)));
    };
    auto store = [](uint8* to, __m128i pixels) {  // twelve bytes
        _mm_storel_epi64(reinterpret_cast<__m128i*>(to), pixels);
        const int last = _mm_extract_epi32(pixels, 2);
        memcpy(to + 8, &last, 4);
    };
    for (; i + 8 <= count; i += 8) {
        const __m256i blue = levels(2), bytes = _mm256_packus_epi16(_mm256_packs_epi32(levels(0), levels(1)),
                                                                    _mm256_packs_epi32(blue, blue));
        const __m256i pixels = _mm256_shuffle_epi8(bytes, byte_order_per_lane);
        store(out + 3 * i, _mm256_castsi256_si128(pixels));
        store(out + 3 * i + 12, _mm256_extracti128_si256(pixels, 1));
    }
#endif
    for (; i < count; ++i)
        for (int k = 0; k < 3; ++k) out[3 * i + k] = saturate_cast<uint8>(in[k][i] * factor);
}

}  // namespace cuaug
