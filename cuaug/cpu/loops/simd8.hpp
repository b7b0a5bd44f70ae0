#pragma once

#include "dtype.cuh"

// Vectors of eight numbers. Eight rows are interleaved (number 0 of all eight, then number 1 of all eight, ...), so
// that sums along a row are computed for eight rows at once.

namespace cuaug {

constexpr int lanes = 8;

// A vector type of the compiler, because compilers do not vectorize loops over arrays of eight numbers.
template <class R>
struct Simd8;
template <>
struct Simd8<float> {
    using type = float __attribute__((vector_size(32)));
};
template <>
struct Simd8<int> {
    using type = int __attribute__((vector_size(32)));
};
template <>
struct Simd8<double> {
    using type = double __attribute__((vector_size(64)));
};

// The smallest and the largest of many numbers, in eight lanes. `add` ignores NaNs; a lane that begins
// as NaN stays NaN.
template <class R>
struct MinMax8 {
    typename Simd8<R>::type lows, highs;

    void add(const typename Simd8<R>::type& value) {
        lows = value < lows ? value : lows;
        highs = value > highs ? value : highs;
    }

    R low() const {
        R result = lows[0];
        for (int i = 1; i < lanes; ++i) result = fmin(lows[i], result);
        return result;
    }

    R high() const {
        R result = highs[0];
        for (int i = 1; i < lanes; ++i) result = fmax(highs[i], result);
        return result;
    }
};

// For a block of 8 x 8 numbers: to[r][c] = from[c][r]. A step is the distance between adjacent rows.
template <class R>
inline void transpose(const R* __restrict__ from, long long from_step, R* __restrict__ to, long long to_step) {
#ifdef __AVX2__
    if constexpr (sizeof(R) == 4) {
        const float* in = reinterpret_cast<const float*>(from);  // vector types may alias other types
        float* out = reinterpret_cast<float*>(to);
        __m256 a[8], b[8];
        // Half rows of four numbers are loaded so that no later step crosses the 128-bit halves of a register: a[i] has
        // the left halves of rows i and i + 4, a[i + 4] the right halves.
        for (int i = 0; i < 4; ++i) {
            a[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(in + i * from_step)),
                                        _mm_loadu_ps(in + (i + 4) * from_step), 1);
            a[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(in + i * from_step + 4)),
                                            _mm_loadu_ps(in + (i + 4) * from_step + 4), 1);
        }
        for (int half = 0; half < 8; half += 4) {
            b[half] = _mm256_unpacklo_ps(a[half], a[half + 1]);
            b[half + 1] = _mm256_unpackhi_ps(a[half], a[half + 1]);
            b[half + 2] = _mm256_unpacklo_ps(a[half + 2], a[half + 3]);
            b[half + 3] = _mm256_unpackhi_ps(a[half + 2], a[half + 3]);
            _mm256_storeu_ps(out + half * to_step, _mm256_shuffle_ps(b[half], b[half + 2], 0x44));
            _mm256_storeu_ps(out + (half + 1) * to_step, _mm256_shuffle_ps(b[half], b[half + 2], 0xee));
            _mm256_storeu_ps(out + (half + 2) * to_step, _mm256_shuffle_ps(b[half + 1], b[half + 3], 0x44));
            _mm256_storeu_ps(out + (half + 3) * to_step, _mm256_shuffle_ps(b[half + 1], b[half + 3], 0xee));
        }
        return;
    }
#endif
    for (int r = 0; r < lanes; ++r)
        for (int c = 0; c < lanes; ++c) to[r * to_step + c] = from[c * from_step + r];
}

// Interleaves eight rows of `count` numbers. Up to 7 numbers beyond `count` are read and written in each row.
template <class R>
inline void interleave8(const R* rows, long long pitch, int count, R* out) {
    for (int i = 0; i < count; i += lanes) transpose(rows + i, pitch, out + lanes * i, lanes);
}

// The reverse of interleave8.
template <class R>
inline void deinterleave8(const R* from, int count, R* rows, long long pitch) {
    for (int i = 0; i < count; i += lanes) transpose(from + lanes * i, lanes, rows + i, pitch);
}

// The sums of weight[i] * number i of eight interleaved rows, for each of C channels: number i + 1 comes `step` groups
// of eight numbers after number i, channel k + 1 comes `channel_step` groups after channel k, its sums
// `sum_channel_step` groups after those of channel k.
template <int C, class R>
inline void weighted_sum8(const R* __restrict__ numbers, int step, int channel_step, const R* __restrict__ weight,
                          int count, R* __restrict__ out, int sum_channel_step) {
    using V = typename Simd8<R>::type;
    V sum[C];
    for (int k = 0; k < C; ++k)
        sum[k] = V{};  // GCC would clear `V sum[C] = {}` in memory (benchmarks/log/resize-tasks-cpu.md)
    for (int i = 0; i < count; ++i) {
        const R* group = numbers + static_cast<long long>(lanes) * i * step;
        for (int k = 0; k < C; ++k) {
            V number;
            memcpy(&number, group + static_cast<long long>(lanes) * k * channel_step, sizeof(number));
            sum[k] += weight[i] * number;
        }
    }
    for (int k = 0; k < C; ++k) {
        const V value = sum[k];
        memcpy(out + static_cast<long long>(lanes) * k * sum_channel_step, &value, sizeof(value));
    }
}

}  // namespace cuaug
