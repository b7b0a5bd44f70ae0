#pragma once

#include "dtype.cuh"

namespace cuaug {

inline float to_float(float16 value) {
    float out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(value.bits));
    return out;
}

inline float16 to_float16(float value) {
    float16 out;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out.bits) : "f"(value));
    return out;
}

// The instruction turns every NaN into 0x7fff; `round_to_bfloat16`, for older GPUs, keeps the sign and the upper
// mantissa bits of a NaN.
inline bfloat16 to_bfloat16(float value) {
#if __CUDA_ARCH__ >= 800
    bfloat16 out;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out.bits) : "f"(value));
    return out;
#else
    return round_to_bfloat16(value);
#endif
}

inline float clamp_nan_to_low(float value, float low, float high) { return fminf(fmaxf(value, low), high); }

inline float to_float32(double value) {
    float out;
    asm("cvt.rn.f32.f64 %0, %1;" : "=f"(out) : "d"(value));
    return out;
}

inline double to_float64(float value) {
    double out;
    asm("cvt.f64.f32 %0, %1;" : "=d"(out) : "f"(value));
    return out;
}

// Two values as float16 or bfloat16 in one word, the first in the lower half.
template <class T>
inline unsigned int pack_two(float first, float second) {
#if __CUDA_ARCH__ >= 800
    unsigned int out;
    if constexpr (is_same_v<T, float16>)
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
    else
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
    return out;
#else
    return saturate_cast<T>(first).bits | static_cast<unsigned int>(saturate_cast<T>(second).bits) << 16;
#endif
}

}  // namespace cuaug
