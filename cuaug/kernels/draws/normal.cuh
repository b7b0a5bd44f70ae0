#pragma once

#include "dtype.cuh"

// Normally distributed numbers (Box and Muller 1958). Logarithm, sine and cosine are written out: compilers vectorize
// them for the CPU, unlike library calls, and GPU and CPU round alike except where a * b + c is contracted to an fma.

namespace cuaug {

struct Normal2 {
    float first, second;
};

// For 0 < u <= 1: exponent * ln 2, plus the series of 2 artanh((m - 1) / (m + 1)) for the mantissa m in
// [1 / sqrt(2), sqrt(2)).
inline float natural_log(float u) {
    const unsigned int bits = float_to_bits(u) + 0x004AFB0Du;  // carries into the exponent from sqrt(2) on
    const int exponent = static_cast<int>(bits >> 23) - 127;
    const float m = bits_to_float((bits & 0x007FFFFFu) + 0x3F3504F3u), s = (m - 1.0f) / (m + 1.0f), s2 = s * s;
    return static_cast<float>(exponent) * 0.69314718f +
           2.0f * s * (1.0f + s2 * (1.0f / 3 + s2 * (1.0f / 5 + s2 * (1.0f / 7 + s2 * (1.0f / 9)))));
}

// The upper 30 bits of `a` give the radius; `b` gives the angle: a whole number of quarter turns, plus -45 to 45
// degrees.
inline Normal2 box_muller(unsigned int a, unsigned int b) {
    const float radius = sqrt(-2.0f * natural_log(static_cast<float>(static_cast<int>(a >> 1 | 1u)) * 0x1p-31f));
    const unsigned int quarter = (b + 0x20000000u) >> 30;
    const float angle = static_cast<float>(static_cast<int>(b - (quarter << 30))) * (6.2831853f * 0x1p-32f),
                angle2 = angle * angle;
    const float sine =
        angle *
        (1.0f - angle2 * (1.0f / 6 - angle2 * (1.0f / 120 - angle2 * (1.0f / 5040 - angle2 * (1.0f / 362880)))));
    const float cosine =
        1.0f - angle2 * (1.0f / 2 - angle2 * (1.0f / 24 - angle2 * (1.0f / 720 - angle2 * (1.0f / 40320))));
    const float x = quarter & 1u ? sine : cosine, y = quarter & 1u ? cosine : sine;
    return {radius * (quarter == 1u || quarter == 2u ? -x : x), radius * (quarter >= 2u ? -y : y)};
}

}  // namespace cuaug
