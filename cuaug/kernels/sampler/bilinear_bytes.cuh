#pragma once

#include "../geometry/local.cuh"
#include "../gpu/words.cuh"

namespace cuaug {

// Bilinear interpolation of pixels of up to four bytes, two taps of a channel in one __dp2a.
// Weights are multiples of 2^-15 with an error of 2^-16 each: 99.8 % of uniform noise comes out as from exact weights, the rest
// one level off. Adding a power of two to a float leaves its integer part in the low bits of the sum: floor, conversion and
// half-to-even rounding at once, on the otherwise idle float pipe.
template <int K>
inline Stored<uint8, K> bilinear(const Stored<uint8, K>* pixels, int pitch, const Point<float>& p) {
    // 2 + x 2^-22 rounded down has the bits 0x40000000 + floor(x); times the 4 bytes of a pixel the constant falls off the word.
    constexpr float ulp = 1.0f / 4194304.0f, one = 32768.0f, bias = 8388608.0f, shift = 12582912.0f;
    const float tx = __fmaf_rd(p.x, ulp, 2.0f), ty = __fmaf_rd(p.y, ulp, 2.0f);
    const unsigned int row = 4 * pitch, offset = __float_as_uint(ty) * row + 4 * __float_as_uint(tx);
    auto pixel = [&](unsigned int at) { return *reinterpret_cast<const Word*>(reinterpret_cast<const char*>(pixels) + at); };
    const Word p00 = pixel(offset), p01 = pixel(offset + 4), p10 = pixel(offset + row), p11 = pixel(offset + row + 4);

    const float fx = p.x - (tx - 2.0f) / ulp, fy = p.y - (ty - 2.0f) / ulp;
    const float right = fx * one, left = one - right, above = 1.0f - fy;
    const Word upper = __byte_perm(__float_as_uint(left * above + bias), __float_as_uint(right * above + bias), 0x5410);
    const Word lower = __byte_perm(__float_as_uint(left * fy + bias), __float_as_uint(right * fy + bias), 0x5410);

    constexpr Word start = 0x4B000000;  // the bits of `bias`: the sum, below 2^23, becomes its mantissa
    auto level = [](Word sum) { return __float_as_uint(__uint_as_float(sum) * (1.0f / one) + (shift - bias / one)); };
    const Word rg0 = __byte_perm(p00, p01, 0x5140), rg1 = __byte_perm(p10, p11, 0x5140);
    const Word r = level(__dp2a_lo(upper, rg0, __dp2a_lo(lower, rg1, start)));
    if constexpr (K == 1) return {{r}};
    const Word rg = __byte_perm(r, level(__dp2a_hi(upper, rg0, __dp2a_hi(lower, rg1, start))), 0x0040);
    if constexpr (K == 2) return {{rg}};
    const Word ba0 = __byte_perm(p00, p01, 0x7362), ba1 = __byte_perm(p10, p11, 0x7362);
    const Word b = level(__dp2a_lo(upper, ba0, __dp2a_lo(lower, ba1, start)));
    if constexpr (K == 3) return {{__byte_perm(rg, b, 0x0410)}};
    return {{__byte_perm(rg, __byte_perm(b, level(__dp2a_hi(upper, ba0, __dp2a_hi(lower, ba1, start))), 0x0040), 0x5410)}};
}

}  // namespace cuaug
