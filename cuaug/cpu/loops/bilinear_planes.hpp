#pragma once

#include "pixel_io.hpp"

namespace cuaug {

// Bilinear interpolation of `count` float32 pixels, a multiple of 8, at (x, y) - (left, top), counted from the corner
// of each plane. Coordinates and weights of eight pixels serve all channels. The formula is that of
// kernels/samplers/bilinear.cuh, but each of the two rows is interpolated first: the last bit may differ.
inline void bilinear_planes(const float* const* plane, int planes, int pitch, const float* __restrict__ x,
                            const float* __restrict__ y, float left, float top, int count, float* const* out) {
    for (int i = 0; i < count; i += 8) {
#ifdef __AVX2__
        const __m256 px = _mm256_sub_ps(_mm256_loadu_ps(x + i), _mm256_set1_ps(left));
        const __m256 py = _mm256_sub_ps(_mm256_loadu_ps(y + i), _mm256_set1_ps(top));
        const __m256 column = _mm256_floor_ps(px), row = _mm256_floor_ps(py), one = _mm256_set1_ps(1.0f);
        const __m256 fx = _mm256_sub_ps(px, column), fy = _mm256_sub_ps(py, row), gx = _mm256_sub_ps(one, fx),
                     gy = _mm256_sub_ps(one, fy);
        alignas(32) int offset[8];
        _mm256_store_si256(reinterpret_cast<__m256i*>(offset),
                           _mm256_add_epi32(_mm256_mullo_epi32(_mm256_cvtps_epi32(row), _mm256_set1_epi32(pitch)),
                                            _mm256_cvtps_epi32(column)));
        for (int k = 0; k < planes; ++k) {
            // One load reads two horizontal neighbours; eight such pairs are shuffled into eight left and eight right
            // values.
            auto interpolate_row = [&](const float* corner) {
                auto pairs = [&](int a, int b) {
                    double two[2];  // pairs of float32
                    memcpy(two, corner + offset[a], 8);
                    memcpy(two + 1, corner + offset[b], 8);
                    return _mm_castpd_ps(_mm_loadu_pd(two));
                };
                const __m256 p0145 = _mm256_insertf128_ps(_mm256_castps128_ps256(pairs(0, 1)), pairs(4, 5), 1);
                const __m256 p2367 = _mm256_insertf128_ps(_mm256_castps128_ps256(pairs(2, 3)), pairs(6, 7), 1);
                const __m256 l = _mm256_shuffle_ps(p0145, p2367, 0x88), r = _mm256_shuffle_ps(p0145, p2367, 0xdd);
                return _mm256_fmadd_ps(fx, r, _mm256_mul_ps(gx, l));
            };
            const __m256 upper = interpolate_row(plane[k]), lower = interpolate_row(plane[k] + pitch);
            _mm256_storeu_ps(out[k] + i, _mm256_fmadd_ps(fy, lower, _mm256_mul_ps(gy, upper)));
        }
#else
        int offset[8];
        float fx[8], fy[8], upper_left[8], upper_right[8], lower_left[8], lower_right[8];
        for (int j = 0; j < 8; ++j) {
            const float px = x[i + j] - left, py = y[i + j] - top, column = floor(px), row = floor(py);
            offset[j] = static_cast<int>(row) * pitch + static_cast<int>(column);
            fx[j] = px - column;
            fy[j] = py - row;
        }
        for (int k = 0; k < planes; ++k) {
            for (int j = 0; j < 8; ++j) {
                const float* corner = plane[k] + offset[j];
                upper_left[j] = corner[0], upper_right[j] = corner[1];
                lower_left[j] = corner[pitch], lower_right[j] = corner[pitch + 1];
            }
            for (int j = 0; j < 8; ++j)
                out[k][i + j] = (1.0f - fy[j]) * ((1.0f - fx[j]) * upper_left[j] + fx[j] * upper_right[j]) +
                                fy[j] * ((1.0f - fx[j]) * lower_left[j] + fx[j] * lower_right[j]);
        }
#endif
    }
}

}  // namespace cuaug
