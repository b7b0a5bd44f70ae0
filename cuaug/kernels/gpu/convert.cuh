#pragma once

#include "../dtype.cuh"

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

}  // namespace cuaug
