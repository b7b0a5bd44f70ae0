#pragma once

// Bits of float16 and bfloat16 numbers. cuda.hpp includes this file after the functions that it calls.

inline unsigned short half_bits(float value) {
    const unsigned int bits = __float_as_uint(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return 0x7fff;
    // From 65520 on, values round to infinity. Below 2^-14, float16 is subnormal: multiples of 2^-24.
    if (magnitude >= 0x477ff000) return static_cast<unsigned short>(sign | 0x7c00);
    if (magnitude < 0x38800000)
        return static_cast<unsigned short>(sign | static_cast<unsigned int>(std::nearbyint(fabs(value) * 0x1p24f)));
    return static_cast<unsigned short>(sign | (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13);
}
inline float half_value(unsigned short bits) {
    const unsigned int magnitude = bits & 0x7fff;
    const float special = magnitude > 0x7c00 ? NAN : INFINITY, small = magnitude * 0x1p-24f;
    const float out = magnitude >= 0x7c00 ? special
                      : magnitude < 0x400 ? small
                                          : __uint_as_float((magnitude << 13) + 0x38000000);
    return bits & 0x8000 ? -out : out;
}
inline unsigned short bfloat16_bits(float value) {
    const unsigned int bits = __float_as_uint(value);
    return static_cast<unsigned short>(value != value ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
