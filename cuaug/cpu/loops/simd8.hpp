#pragma once

// Eight rows of numbers side by side, number i of all of them together: what is summed along a row is then summed for
// eight at once.

namespace cuaug {

constexpr int lanes = 8;

// The compiler makes scalar code of loops over arrays of eight.
template <class R>
struct Simd8;
template <>
struct Simd8<float> {
    using type = float __attribute__((vector_size(32)));
};
template <>
struct Simd8<double> {
    using type = double __attribute__((vector_size(64)));
};

// to[r][c] = from[c][r] of a block of 8 by 8; rows are a step apart.
template <class R>
inline void transpose(const R* __restrict__ from, long long from_step, R* __restrict__ to, long long to_step) {
#ifdef __AVX2__
    if constexpr (is_same_v<R, float>) {
        __m256 a[8], b[8];
        // Halves of four numbers find their place as they are loaded.
        for (int i = 0; i < 4; ++i) {
            a[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * from_step)),
                                        _mm_loadu_ps(from + (i + 4) * from_step), 1);
            a[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(from + i * from_step + 4)),
                                            _mm_loadu_ps(from + (i + 4) * from_step + 4), 1);
        }
        for (int half = 0; half < 8; half += 4) {
            b[half] = _mm256_unpacklo_ps(a[half], a[half + 1]);
            b[half + 1] = _mm256_unpackhi_ps(a[half], a[half + 1]);
            b[half + 2] = _mm256_unpacklo_ps(a[half + 2], a[half + 3]);
            b[half + 3] = _mm256_unpackhi_ps(a[half + 2], a[half + 3]);
            _mm256_storeu_ps(to + half * to_step, _mm256_shuffle_ps(b[half], b[half + 2], 0x44));
            _mm256_storeu_ps(to + (half + 1) * to_step, _mm256_shuffle_ps(b[half], b[half + 2], 0xee));
            _mm256_storeu_ps(to + (half + 2) * to_step, _mm256_shuffle_ps(b[half + 1], b[half + 3], 0x44));
            _mm256_storeu_ps(to + (half + 3) * to_step, _mm256_shuffle_ps(b[half + 1], b[half + 3], 0xee));
        }
        return;
    }
#endif
    for (int r = 0; r < lanes; ++r)
        for (int c = 0; c < lanes; ++c) to[r * to_step + c] = from[c * from_step + r];
}

// Rows of `count` numbers, a pitch apart, to numbers of eight rows. Up to 7 numbers more are read and written.
template <class R>
inline void interleave8(const R* rows, long long pitch, int count, R* out) {
    for (int i = 0; i < count; i += lanes) transpose(rows + i, pitch, out + lanes * i, lanes);
}

// And back.
template <class R>
inline void deinterleave8(const R* from, int count, R* rows, long long pitch) {
    for (int i = 0; i < count; i += lanes) transpose(from + lanes * i, lanes, rows + i, pitch);
}

// The sum of `weight[i] * number i`, for eight rows of each of C channels: channel k is `plane` numbers further on,
// number i + 1 `step`.
template <int C, class R>
inline void weighted_sum8(const R* __restrict__ numbers, int step, int plane, const R* __restrict__ weight, int count,
                          R* __restrict__ out) {
    using V = typename Simd8<R>::type;
    V sum[C] = {};
    for (int i = 0; i < count; ++i) {
        const R* at = numbers + static_cast<long long>(lanes) * i * step;
        for (int k = 0; k < C; ++k) {
            V number;
            memcpy(&number, at + static_cast<long long>(lanes) * k * plane, sizeof(number));
            sum[k] += weight[i] * number;
        }
    }
    memcpy(out, sum, sizeof(sum));
}

}  // namespace cuaug
