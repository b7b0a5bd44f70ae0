#pragma once

#include "../geometry/local.cuh"

// uint8 pixels as 32-bit words, one channel a byte: what makes them cheap to move and to interpolate on a GPU.

namespace cuaug {

using Word = unsigned int;

// Four adjacent pixels of K planes: one word a plane -> one word a pixel.
template <int K>
inline void planes_to_pixels(const Word* plane, Word* pixel) {
    const Word zero = 0, g = K > 1 ? plane[K > 1 ? 1 : 0] : zero, b = K > 2 ? plane[K > 2 ? 2 : 0] : zero,
               a = K > 3 ? plane[K > 3 ? 3 : 0] : zero;
    const Word low = __byte_perm(plane[0], g, 0x5140), high = __byte_perm(plane[0], g, 0x7362);
    if constexpr (K <= 2) {
        pixel[0] = __byte_perm(low, zero, 0x4410);
        pixel[1] = __byte_perm(low, zero, 0x4432);
        pixel[2] = __byte_perm(high, zero, 0x4410);
        pixel[3] = __byte_perm(high, zero, 0x4432);
    } else {
        const Word low2 = __byte_perm(b, a, 0x5140), high2 = __byte_perm(b, a, 0x7362);
        pixel[0] = __byte_perm(low, low2, 0x5410);
        pixel[1] = __byte_perm(low, low2, 0x7632);
        pixel[2] = __byte_perm(high, high2, 0x5410);
        pixel[3] = __byte_perm(high, high2, 0x7632);
    }
}

// The way back.
template <int K>
inline void pixels_to_planes(const Word* pixel, Word* plane) {
    const Word low = __byte_perm(pixel[0], pixel[1], 0x5140), high = __byte_perm(pixel[2], pixel[3], 0x5140);
    plane[0] = __byte_perm(low, high, 0x5410);
    if constexpr (K > 1) plane[1] = __byte_perm(low, high, 0x7632);
    if constexpr (K > 2) {
        const Word low2 = __byte_perm(pixel[0], pixel[1], 0x7362), high2 = __byte_perm(pixel[2], pixel[3], 0x7362);
        plane[2] = __byte_perm(low2, high2, 0x5410);
        if constexpr (K > 3) plane[3] = __byte_perm(low2, high2, 0x7632);
    }
}

// Four adjacent pixels of K bytes each, K words in all -> one word a pixel; bytes K..3 of a pixel are not used by anyone.
template <int K>
inline void packed_to_pixels(const Word* packed, Word* pixel) {
    if constexpr (K == 1) {
        for (int i = 0; i < 4; ++i) pixel[i] = packed[0] >> (8 * i);
    } else if constexpr (K == 2) {
        for (int i = 0; i < 4; ++i) pixel[i] = packed[i / 2] >> (16 * (i % 2));
    } else if constexpr (K == 3) {
        pixel[0] = packed[0];
        pixel[1] = __byte_perm(packed[0], packed[1], 0x6543);
        pixel[2] = __byte_perm(packed[1], packed[2], 0x5432);
        pixel[3] = packed[2] >> 8;
    } else {
        for (int i = 0; i < 4; ++i) pixel[i] = packed[i];
    }
}

// The way back.
template <int K>
inline void pixels_to_packed(const Word* pixel, Word* packed) {
    if constexpr (K == 1) {
        pixels_to_planes<1>(pixel, packed);
    } else if constexpr (K == 2) {
        packed[0] = __byte_perm(pixel[0], pixel[1], 0x5410);
        packed[1] = __byte_perm(pixel[2], pixel[3], 0x5410);
    } else if constexpr (K == 3) {
        packed[0] = __byte_perm(pixel[0], pixel[1], 0x4210);
        packed[1] = __byte_perm(pixel[1], pixel[2], 0x5421);
        packed[2] = __byte_perm(pixel[2], pixel[3], 0x6542);
    } else {
        for (int i = 0; i < 4; ++i) packed[i] = pixel[i];
    }
}

// Bilinear interpolation of a word of four bytes, two taps of a channel in one __dp2a.
// Weights are multiples of 2^-15 with an error of 2^-16 each: 99.8 % of uniform noise comes out as from exact weights, the rest
// one level off. Adding 2^23 (1.5 * 2^23 where the sign may be negative) to a float leaves its nearest integer in the low bits:
// it is floor, conversion and half-to-even rounding at once, on the otherwise idle float pipe.
inline Word bilinear(const Word* pixels, int pitch, const Point<float>& p) {
    constexpr float shift = 12582912.0f, one = 32768.0f, bias = 8388608.0f;
    const float tx = (p.x - 0.5f) + shift, ty = (p.y - 0.5f) + shift;
    const float hx = (p.x - 0.5f) - (tx - shift), hy = (p.y - 0.5f) - (ty - shift);  // fraction - 0.5
    const float right = hx * one + 0.5f * one, left = hx * -one + 0.5f * one, below = hy + 0.5f, above = 0.5f - hy;
    const Word upper = __byte_perm(__float_as_uint(left * above + bias), __float_as_uint(right * above + bias), 0x5410);
    const Word lower = __byte_perm(__float_as_uint(left * below + bias), __float_as_uint(right * below + bias), 0x5410);

    constexpr int offset = 0x4B400000;  // the bits of `shift`
    const Word* at = pixels + ((__float_as_int(ty) - offset) * pitch + (__float_as_int(tx) - offset));
    const Word p00 = at[0], p01 = at[1], p10 = at[pitch], p11 = at[pitch + 1];
    const Word rg0 = __byte_perm(p00, p01, 0x5140), ba0 = __byte_perm(p00, p01, 0x7362);
    const Word rg1 = __byte_perm(p10, p11, 0x5140), ba1 = __byte_perm(p10, p11, 0x7362);

    constexpr Word start = 0x4B000000;  // the bits of `bias`: the sum, below 2^23, becomes its mantissa
    const Word r = __dp2a_lo(upper, rg0, __dp2a_lo(lower, rg1, start)), g = __dp2a_hi(upper, rg0, __dp2a_hi(lower, rg1, start));
    const Word b = __dp2a_lo(upper, ba0, __dp2a_lo(lower, ba1, start)), a = __dp2a_hi(upper, ba0, __dp2a_hi(lower, ba1, start));
    auto level = [](Word sum) { return __float_as_uint(__uint_as_float(sum) * (1.0f / one) + (shift - bias / one)); };
    return __byte_perm(__byte_perm(level(r), level(g), 0x0040), __byte_perm(level(b), level(a), 0x0040), 0x5410);
}

}  // namespace cuaug
