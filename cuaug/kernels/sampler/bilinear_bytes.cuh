#pragma once

#include "../geometry/local.cuh"
#include "../gpu/words.cuh"

namespace cuaug {

// Bilinear interpolation of pixels of up to four bytes, two taps of a channel in one __dp2a.
// Weights are multiples of 2^-15 with an error of 2^-16 each: 99.8 % of uniform noise comes out as from exact weights, the rest
// one level off. Adding 2^23 (1.5 * 2^23 where the sign may be negative) to a float leaves its nearest integer in the low bits:
// it is floor, conversion and half-to-even rounding at once, on the otherwise idle float pipe.
template <int K>
inline Stored<uint8, K> bilinear(const Stored<uint8, K>* pixels, int pitch, const Point<float>& p) {
    constexpr float shift = 12582912.0f, one = 32768.0f, bias = 8388608.0f;
    const float x = p.x - 0.5f, y = p.y - 0.5f, tx = x + shift, ty = y + shift;
    const float hx = x - (tx - shift), hy = y - (ty - shift);  // fraction - 0.5
    const float right = hx * one + 0.5f * one, left = hx * -one + 0.5f * one, below = hy + 0.5f, above = 0.5f - hy;
    const Word upper = __byte_perm(__float_as_uint(left * above + bias), __float_as_uint(right * above + bias), 0x5410);
    const Word lower = __byte_perm(__float_as_uint(left * below + bias), __float_as_uint(right * below + bias), 0x5410);

    constexpr Word offset = 0x4B400000;  // the bits of `shift`
    const Word index = __float_as_uint(ty) * pitch + __float_as_uint(tx) - offset * (pitch + 1);
    const Stored<uint8, K>* at = pixels + static_cast<int>(index);
    const Word p00 = at[0].word[0], p01 = at[1].word[0], p10 = at[pitch].word[0], p11 = at[pitch + 1].word[0];

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
