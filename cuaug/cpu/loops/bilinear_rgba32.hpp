#pragma once

#include "rgba32.hpp"

namespace cuaug {

// Bilinear interpolation of uint8 pixels: out[i] is the value of `box` at (x[i] - left, y[i] - top), counted from its
// first pixel. `count` is a multiple of 8.
#ifdef __AVX2__
// Horizontal weights are 16-bit multiples of 2^-15. They are negated, because -32768 (a weight of 1) fits a signed
// 16-bit number and 32768 does not. Horizontal sums are exact in 32-bit integers, and vertical ones float32. On images
// of uniform noise 99.95 % of the levels equal those of exact weights and the others differ by one; a value half-way
// between two levels stays half-way and is rounded to even.
inline void bilinear_rgba32(const Rgba32* __restrict__ box, int pitch, const float* __restrict__ x,
                            const float* __restrict__ y, float left, float top, int count, Rgba32* __restrict__ out) {
    const __m256i pair_order = _mm256_setr_epi8(0, -1, 4, -1, 1, -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1, 0, -1, 4, -1, 1,
                                                -1, 5, -1, 2, -1, 6, -1, 3, -1, 7, -1);
    const __m256 scale = _mm256_set1_ps(-1.0f / 32768.0f);
    for (int i = 0; i < count; i += 8) {
        const __m256 px = _mm256_sub_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(left));
        const __m256 py = _mm256_sub_ps(_mm256_loadu_ps(y + i), _mm256_set1_ps(top));
        const __m256 column = _mm256_floor_ps(px), row = _mm256_floor_ps(py);
        alignas(32) int offset[8];
        _mm256_store_si256(reinterpret_cast<__m256i*>(offset),
                           _mm256_cvtps_epi32(_mm256_fmadd_ps(row, _mm256_set1_ps(static_cast<float>(pitch)), column)));
        const __m256i negated_right_weights =
            _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_sub_ps(px, column), _mm256_set1_ps(-32768.0f)));
        const __m256i negated_left_weights = _mm256_sub_epi32(_mm256_set1_epi32(-32768), negated_right_weights);
        const __m256i negated_weights =
            _mm256_blend_epi16(negated_left_weights, _mm256_slli_epi32(negated_right_weights, 16), 0xaa);
        // The weights of the lower row times -1/32768, which cancels the factor -32768 of the horizontal weights.
        const __m256 scaled_fy = _mm256_mul_ps(_mm256_sub_ps(py, row), scale);

        // Pixels k and k + 4, one in each half of the vector.
        auto interpolate_pair = [&](auto lane) {
            constexpr int k = decltype(lane)::value;
            const Rgba32 *p = box + offset[k], *q = box + offset[k + 4];
            // The left and the right neighbours in one row, as pairs of 16-bit levels.
            auto load_neighbor_pairs = [&](int row_offset) {
                // The insertion of `high` reads 16 bytes from memory, of which 8 are used; the buffer of the box is
                // larger than the box.
                const __m128i low = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p + row_offset));
                const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(q + row_offset));
                return _mm256_shuffle_epi8(_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1), pair_order);
            };
            const __m256i weights = _mm256_shuffle_epi32(negated_weights, 0x55 * k);
            const __m256 scaled_lower_weight = _mm256_permute_ps(scaled_fy, 0x55 * k);
            const __m256i upper = _mm256_madd_epi16(load_neighbor_pairs(0), weights),
                          lower = _mm256_madd_epi16(load_neighbor_pairs(pitch), weights);
            const __m256 change = _mm256_cvtepi32_ps(_mm256_sub_epi32(lower, upper));
            return _mm256_cvtps_epi32(
                _mm256_fmadd_ps(change, scaled_lower_weight, _mm256_mul_ps(_mm256_cvtepi32_ps(upper), scale)));
        };
        const __m256i first = _mm256_packs_epi32(interpolate_pair(Int<0>()), interpolate_pair(Int<1>())),
                      second = _mm256_packs_epi32(interpolate_pair(Int<2>()), interpolate_pair(Int<3>()));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), _mm256_packus_epi16(first, second));
    }
}
#else
inline void bilinear_rgba32(const Rgba32* __restrict__ box, int pitch, const float* __restrict__ x,
                            const float* __restrict__ y, float left, float top, int count, Rgba32* __restrict__ out) {
    // Vector types of GCC and Clang, four channels wide, which compile for every processor.
    using Float4 = float __attribute__((vector_size(16)));
    using Int4 [[maybe_unused]] = int __attribute__((vector_size(16)));
    auto unpack = [](Rgba32 pixel) {
#ifdef __SSE2__
        const __m128i zero = _mm_setzero_si128(), bytes = _mm_cvtsi32_si128(static_cast<int>(pixel));
        return Float4(_mm_cvtepi32_ps(_mm_unpacklo_epi16(_mm_unpacklo_epi8(bytes, zero), zero)));
#else
        const Int4 bytes = {static_cast<int>(pixel & 255), static_cast<int>(pixel >> 8 & 255),
                            static_cast<int>(pixel >> 16 & 255), static_cast<int>(pixel >> 24)};
        return __builtin_convertvector(bytes, Float4);
#endif
    };
    auto round_channels = [](Float4 value) {
#ifdef __SSE2__
        const __m128i levels = _mm_cvtps_epi32(value), narrow = _mm_packs_epi32(levels, levels);
        return static_cast<Rgba32>(_mm_cvtsi128_si32(_mm_packus_epi16(narrow, narrow)));
#else
        const Float4 biased = value + 12582912.0f;  // 1.5 * 2^23: the low bits are the nearest integer, ties to even
        Int4 bits;
        memcpy(&bits, &biased, sizeof(bits));
        return static_cast<Rgba32>((bits[0] & 255) | (bits[1] & 255) << 8 | (bits[2] & 255) << 16) |
               static_cast<Rgba32>(bits[3]) << 24;
#endif
    };
    for (int i = 0; i < count; ++i) {
        const float px = x[i] - left, py = y[i] - top, column = floor(px), row = floor(py), fx = px - column,
                    fy = py - row;
        const Rgba32* p = box + static_cast<int>(row) * pitch + static_cast<int>(column);
        const Float4 upper = (1.0f - fx) * unpack(p[0]) + fx * unpack(p[1]);
        const Float4 lower = (1.0f - fx) * unpack(p[pitch]) + fx * unpack(p[pitch + 1]);
        out[i] = round_channels((1.0f - fy) * upper + fy * lower);
    }
}
#endif

}  // namespace cuaug
