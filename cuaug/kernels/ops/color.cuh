#pragma once

#include "pixel.cuh"
#include "ops/pixel_context.cuh"

// Functions that color ops share.

namespace cuaug {

template <class R, int K>
inline Pixel<R, K> splat(R value) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = value;
    return out;
}

// The functions that are only declared here are defined in gpu/pixel_convert.cuh and in cpu/loops (convert.hpp,
// power.hpp).

// a * b + c and a + b clamped to 0..1, a NaN to 0; and 1 / value, to within an ulp. On a GPU each is one instruction
// for floats.
float fma_saturate(float a, float b, float c);
double fma_saturate(double a, double b, double c);
float add_saturate(float a, float b);
double add_saturate(double a, double b);
float reciprocal(float value);
double reciprocal(double value);

// a / b, rounded once, if `a` is an integer below 2^17, and `b` is n * (1 / max_value) with an integer n below 2^16.
float divide_levels(float a, float b);
double divide_levels(double a, double b);

// base ^ exponent for a base of at least 0: to within 2e-6, if the result is at most 1.
float non_negative_power(float base, float exponent);
double non_negative_power(double base, double exponent);

// factor * in + add, clamped to 0..1 as torchvision does after each op.
template <class R, int K>
inline Pixel<R, K> fma_saturate(R factor, const Pixel<R, K>& in, R add) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = fma_saturate(factor, in.c[k], add);
    return out;
}

// Scales a value of 0..1 to the range of the input dtype. For integer images the result is rounded to a whole number,
// so that comparing it with a level is exact.
template <class R>
inline R to_input_range(R unit, const PixelContext<R>& context) {
    return context.max_value > R(1) ? floor(unit * context.max_value + R(0.5)) : unit;
}

// ITU-R BT.601, with torchvision's digits.
template <class R, int K>
inline R luma(const Pixel<R, K>& in) {
    return R(0.2989) * in.c[0] + R(0.587) * in.c[1] + R(0.114) * in.c[2];
}

}  // namespace cuaug
