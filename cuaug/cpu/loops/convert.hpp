#pragma once

#include "dtype.cuh"
#include "power.hpp"

// The CPU's definitions of the functions that kernels/dtype.cuh and kernels/ops/color.cuh declare. float16 is
// converted with integer and float32 arithmetic, without branches, so that loops over it are vectorized.

namespace cuaug {

inline float to_float(float16 value) {
    const unsigned int bits = value.bits, magnitude = (bits & 0x7fffu) << 13, sign = (bits & 0x8000u) << 16;
    // The exponent's bias is 15 in float16 and 127 in float32: a factor of 2^112 corrects it, subnormals included.
    const unsigned int finite = float_to_bits(bits_to_float(magnitude) * 0x1p112f),
                       infinite_or_nan = magnitude | 0x7f800000u;
    return bits_to_float(sign | (magnitude >= 0x0f800000u ? infinite_or_nan : finite));
}

// Rounds to nearest, ties to even.
inline float16 to_float16(float value) {
    const unsigned int bits = float_to_bits(value), magnitude = bits & 0x7fffffffu;
    // Adding 0.5 leaves a subnormal's nearest multiple of 2^-24 in the low bits.
    const unsigned int subnormal = float_to_bits(bits_to_float(magnitude) + 0.5f) - 0x3f000000u;
    const unsigned int normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    const unsigned int infinite_or_nan = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    const unsigned int half = magnitude >= 0x47800000u ? infinite_or_nan : magnitude < 0x38800000u ? subnormal : normal;
    return {static_cast<unsigned short>(half | ((bits >> 16) & 0x8000u))};
}

inline bfloat16 to_bfloat16(float value) { return round_to_bfloat16(value); }

inline float to_float32(double value) { return static_cast<float>(value); }
inline double to_float64(float value) { return value; }

// The smaller of two non-negative numbers, compared as integers. For two consecutive float comparisons GCC emits mask
// operations of AVX-512, which take three times as long.
inline float min_non_negative(float a, float b) {
    int i, j;
    memcpy(&i, &a, 4);
    memcpy(&j, &b, 4);
    i = i < j ? i : j;
    memcpy(&a, &i, 4);
    return a;
}

inline float clamp_nan_to_low(float value, float low, float high) {
    return low < 0.0f ? fminf(fmaxf(value, low), high) : min_non_negative(fmaxf(value, low), high);
}

inline float fma_saturate(float a, float b, float c) { return clamp_nan_to_low(a * b + c, 0.0f, 1.0f); }
inline double fma_saturate(double a, double b, double c) { return fmin(fmax(a * b + c, 0.0), 1.0); }
inline float add_saturate(float a, float b) { return clamp_nan_to_low(a + b, 0.0f, 1.0f); }
inline double add_saturate(double a, double b) { return fmin(fmax(a + b, 0.0), 1.0); }
inline float reciprocal(float value) { return 1.0f / value; }
inline double reciprocal(double value) { return 1.0 / value; }
inline float divide_levels(float a, float b) { return a / b; }
inline double divide_levels(double a, double b) { return a / b; }

}  // namespace cuaug
