#pragma once

#include "gpu/convert.cuh"
#include "gpu/word_pixel.cuh"

// Conversions between stored pixels and numbers. uint8 is converted without conversion instructions, which run at a
// fraction of the rate of additions: the bits of 2^23 + n are those of 2^23 with n in the lowest byte.

namespace cuaug {

template <class R, class T, int K>
inline Pixel<R, K> to_pixel(const WordPixel<T, K>& word_pixel) {
    if constexpr (is_same_v<T, uint8> && is_same_v<R, float>) {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k)
            out.c[k] = __uint_as_float(__byte_perm(word_pixel.word[0], 0x4B000000, 0x7440 + k)) - 8388608.0f;
        return out;
    } else {
        return to_pixel<R>(to_raw_pixel(word_pixel));
    }
}

constexpr float inv_255 = 1.0f / 255.0f;

// A level, scaled to 0..1. level_bits: those of 2^23 + level. The fma gives level * inv_255, rounded once: it computes
// (2^23 + level) * inv_255 exactly, and a product with 2^23 is exact, too.
inline float level_to_unit_range(Word level_bits) {
    return __fmaf_rn(__uint_as_float(level_bits), inv_255, -8388608.0f * inv_255);
}

// Pixels scaled to 0..1.
template <class R, class T, int K>
inline Pixel<R, K> to_unit_range(const WordPixel<T, K>& word_pixel) {
    if constexpr (is_same_v<T, uint8> && is_same_v<R, float>) {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k)
            out.c[k] = level_to_unit_range(__byte_perm(word_pixel.word[0], 0x4B000000, 0x7440 + k));
        return out;
    } else {
        return (R(1) / R(max_value<T>)) * to_pixel<R>(word_pixel);
    }
}

template <class R, class T, int K>
inline Pixel<R, K> to_unit_range(const RawPixel<T, K>& raw_pixel) {
    return (R(1) / R(max_value<T>)) * to_pixel<R>(raw_pixel);
}

// For templates that also convert other types of pixels.
template <class T, int K>
inline WordPixel<T, K> to_word_pixel(const WordPixel<T, K>& word_pixel) {
    return word_pixel;
}

// Packs values within 0..255, rounded half to even: the lowest byte of 1.5 * 2^23 + n is n.
template <int K>
inline WordPixel<uint8, K> pack_u8(const Pixel<float, K>& pixel) {
    Word level[4] = {};
    for (int k = 0; k < K; ++k) level[k] = __float_as_uint(__fadd_rn(pixel.c[k], 12582912.0f));
    const Word low = __byte_perm(level[0], level[1], 0x0040);
    if constexpr (K == 3) return {{__byte_perm(low, level[2], 0x0410)}};  // byte 3 is unused
    return {{__byte_perm(low, __byte_perm(level[2], level[3], 0x0040), 0x5410)}};
}

// Values of integer dtypes are clamped and rounded half to even; a NaN becomes 0.
template <class T, class R, int K>
inline WordPixel<T, K> saturate_pack(const Pixel<R, K>& pixel) {
    if constexpr (is_same_v<T, uint8> && is_same_v<R, float>) {
        Pixel<R, K> level;
        for (int k = 0; k < K; ++k) level.c[k] = fminf(fmaxf(pixel.c[k], 0.0f), 255.0f);
        return pack_u8(level);
    } else if constexpr (uses_words<T, K> && is_same_v<R, float> && (is_same_v<T, float16> || is_same_v<T, bfloat16>)) {
        WordPixel<T, K> out;
        for (int k = 0; k < K; k += 2) out.word[k / 2] = pack_two<T>(pixel.c[k], k + 1 < K ? pixel.c[k + 1] : 0.0f);
        return out;
    } else {
        return to_word_pixel(to_raw_pixel<T>(pixel));
    }
}

inline float fma_saturate(float a, float b, float c) {
    float out;
    asm("fma.rn.sat.f32 %0, %1, %2, %3;" : "=f"(out) : "f"(a), "f"(b), "f"(c));
    return out;
}

inline float add_saturate(float a, float b) {
    float out;
    asm("add.ftz.sat.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
    return out;
}

inline float reciprocal(float value) {
    float out;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(value));
    return out;
}

// A quotient is estimated and corrected once (Markstein 1990). The compiler computes 1 / b once for all pixels.
inline float divide_levels(float a, float b) {
    const float inverse = 1.0f / b, estimate = a * inverse;
    return __fmaf_rn(__fmaf_rn(-estimate, b, a), inverse, estimate);
}

inline float non_negative_power(float base, float exponent) {
    const bool is_accurate = exponent > 0.0f && exponent <= 8.0f;  // of the two instructions below
    if (!is_accurate) return pow(base, exponent);
    float logarithm, out;
    asm("lg2.approx.f32 %0, %1;" : "=f"(logarithm) : "f"(base));
    asm("ex2.approx.f32 %0, %1;" : "=f"(out) : "f"(exponent * logarithm));
    return out;
}

// As `saturate_pack`, for pixels scaled to 0..1. Values outside are clamped before the scaling to levels: clamping to
// 0..1 is one instruction, clamping to 0..255 two of half the rate. `in_unit_range`: no value is outside. The product
// is not fused with the addition in `pack_u8`: rounded first, as on a CPU, 0.5 / 255 gives exactly 0.5, and `pack_u8`
// rounds that half to even.
template <class T, bool in_unit_range = false, class R, int K>
inline WordPixel<T, K> pack_unit_range(const Pixel<R, K>& pixel) {
    if constexpr (is_same_v<T, uint8> && is_same_v<R, float>) {
        Pixel<R, K> level;
        for (int k = 0; k < K; ++k)
            level.c[k] = __fmul_rn(in_unit_range ? pixel.c[k] : fma_saturate(1.0f, pixel.c[k], 0.0f), 255.0f);
        return pack_u8(level);
    } else {
        return saturate_pack<T>(R(max_value<T>) * pixel);
    }
}

inline double fma_saturate(double a, double b, double c) { return fmin(fmax(a * b + c, 0.0), 1.0); }
inline double add_saturate(double a, double b) { return fma_saturate(1.0, a, b); }
inline double reciprocal(double value) { return 1.0 / value; }
inline double divide_levels(double a, double b) { return a / b; }
inline double non_negative_power(double base, double exponent) { return pow(base, exponent); }

}  // namespace cuaug
