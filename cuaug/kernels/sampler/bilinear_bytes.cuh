#pragma once

#include "../geometry/local.cuh"
#include "../gpu/bytes.cuh"
#include "../gpu/fixed.cuh"

namespace cuaug {

// Half of the step that weights of bytes come in: coordinates are given with it added, so that rounding down below is rounding.
constexpr float byte_nudge = 1.0f / 65536.0f;

// The four weights of a point, of 15 bits and summing to 2^15, two in a word: (1-r)(1-f) and r (1-f), (1-r) f and r f.
struct ByteWeights {
    Word upper;
    Word lower;
};

// Bilinear interpolation of pixels of up to four bytes, two taps of a channel in one __dp2a: the levels, rounded half to even, as
// float bits, of which the lowest byte is the level. With weights of 15 bits, 99.8 % of uniform noise comes out as from exact
// weights, the rest one level off. `above` and `below` are addresses in shared memory.
constexpr float level_bias = 8388608.0f;

// A sum starts from the bits of 2^23 and becomes its mantissa. Adding 2^23 to a float leaves its integer part in the low bits of the sum: conversion and half-to-even
// rounding at once, on the otherwise idle float pipe.
constexpr Word level_start = 0x4B000000;
inline float level(Word sum) { return __uint_as_float(sum) * (1.0f / 32768.0f) + (level_bias - 256.0f); }

template <int K>
struct Levels {
    float of[K];
};

template <int K>
inline Levels<K> bilinear(unsigned int above, unsigned int below, const ByteWeights& weights) {
    auto pixel = [](unsigned int at) { return *static_cast<const Word*>(__cvta_shared_to_generic(at)); };
    const Word p00 = pixel(above), p01 = pixel(above + 4), p10 = pixel(below), p11 = pixel(below + 4);
    const Word upper = weights.upper, lower = weights.lower;

    Levels<K> out;
    const Word rg0 = __byte_perm(p00, p01, 0x5140), rg1 = __byte_perm(p10, p11, 0x5140);
    out.of[0] = level(__dp2a_lo(upper, rg0, __dp2a_lo(lower, rg1, level_start)));
    if constexpr (K > 1) out.of[1] = level(__dp2a_hi(upper, rg0, __dp2a_hi(lower, rg1, level_start)));
    if constexpr (K > 2) {
        const Word ba0 = __byte_perm(p00, p01, 0x7362), ba1 = __byte_perm(p10, p11, 0x7362);
        out.of[2] = level(__dp2a_lo(upper, ba0, __dp2a_lo(lower, ba1, level_start)));
        if constexpr (K > 3) out.of[3] = level(__dp2a_hi(upper, ba0, __dp2a_hi(lower, ba1, level_start)));
    }
    return out;
}

// As a pixel in memory, or for arithmetic to go on with.
template <int K>
inline Stored<uint8, K> to_stored(const Levels<K>& levels) {
    auto bits = [&](int k) { return __float_as_uint(levels.of[k < K ? k : 0]); };
    if constexpr (K == 1) return {{bits(0)}};
    const Word rg = __byte_perm(bits(0), bits(1), 0x0040);
    if constexpr (K == 2) return {{rg}};
    if constexpr (K == 3) return {{__byte_perm(rg, bits(2), 0x0410)}};
    return {{__byte_perm(rg, __byte_perm(bits(2), bits(3), 0x0040), 0x5410)}};
}

template <class R, int K>
inline Pixel<R, K> shares(const Levels<K>& levels) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = __fmaf_rn(levels.of[k], byte_share, -level_bias * byte_share);
    return out;
}

// The fractions r, f rounded down, and b their product, give the weights b, f - b, r - b and 2^15 - r - f + b: none is negative.
// Two in a word: w + 65536 v = 65535 v + (w + v).
inline ByteWeights byte_weights(const FixedPoint& p) {
    const Word r = (p.x >> 9) & 0x7fff, f = (p.y >> 9) & 0x7fff, lower = 65535 * (r * f >> 15) + f;
    return {65535 * r + 32768 - lower, lower};
}

template <int K>
inline Levels<K> bilinear(const Stored<uint8, K>* pixels, int pitch, const FixedPoint& p) {
    const ByteWeights weights = byte_weights(p);
    const Word row = 4 * pitch, above = address_of(p, 4, row, static_cast<Word>(__cvta_generic_to_shared(pixels)));
    return bilinear<K>(above, above + row, weights);
}

// The same from float coordinates: adding a power of two leaves the integer part in the low bits, here rounded down.
template <int K>
inline Levels<K> bilinear(const Stored<uint8, K>* pixels, int pitch, const Point<float>& p) {
    // 2 + x 2^-22 rounded down has the bits 0x40000000 + floor(x); times the 4 bytes of a pixel the constant falls off the word.
    constexpr float ulp = 1.0f / 4194304.0f, one = 32768.0f, bias = 8388608.0f;
    constexpr Word start = 0x4B000000;  // the bits of `bias`
    const float tx = __fmaf_rd(p.x, ulp, 2.0f), ty = __fmaf_rd(p.y, ulp, 2.0f);
    const float fx = p.x * one - (tx * (one / ulp) - 2.0f * one / ulp), fy = p.y - (ty - 2.0f) / ulp;
    const Word r = __float_as_uint(__fadd_rd(fx, bias)), f = __float_as_uint(__fmaf_rd(fy, one, bias));
    const Word lower = 65535u * __float_as_uint(__fmaf_rd(fx, fy, bias)) + (f - 65536u * start);
    const Word upper = 65535u * r + (32768u - 65535u * start) - lower;
    const Word row = 4 * pitch, above = __float_as_uint(ty) * row + (4 * __float_as_uint(tx) + static_cast<Word>(__cvta_generic_to_shared(pixels)));
    return bilinear<K>(above, above + row, {upper, lower});
}

}  // namespace cuaug
