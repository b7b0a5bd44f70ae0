#pragma once

// The 8-point DCT of JPEG and its inverse in integers (Loeffler, Ligtenberg and Moschytz 1989), with the roundings of
// libjpeg's "islow". V is int, or a vector of ints whose lanes are transformed independently. Two-dimensional
// transforms take the rows first, their inverses the columns. The values between the two passes fit 16 bits.

namespace cuaug {

enum class DctPass { first, second };

constexpr int cosine_bits = 13;       // of the fraction of a cosine
constexpr int intermediate_bits = 2;  // of the fraction of a value between the passes
constexpr int coefficient_scale = 3;  // a coefficient of `forward_dct` is 2^3 times that of JPEG

// The odd part of both transforms, whose matrix is symmetric: sqrt(2) * cos((2 i + 1) (2 j + 1) pi / 16). libjpeg adds
// products of other rounded cosines, so the factors of one cosine differ by up to 2 (2259, 2260 and 2261).
template <class V>
inline void multiply_odd(const V (&in)[4], V (&out)[4]) {
    out[0] = 11363 * in[0] + 9633 * in[1] + 6437 * in[2] + 2260 * in[3];
    out[1] = 9633 * in[0] - 2259 * in[1] - 11362 * in[2] - 6436 * in[3];
    out[2] = 6437 * in[0] - 11362 * in[1] + 2261 * in[2] + 9633 * in[3];
    out[3] = 2260 * in[0] - 6436 * in[1] + 9633 * in[2] - 11363 * in[3];
}

template <DctPass Pass, class V>
inline void forward_dct(V (&v)[8]) {
    constexpr int shift = Pass == DctPass::first ? cosine_bits - intermediate_bits : cosine_bits + intermediate_bits,
                  half = 1 << (shift - 1);
    V difference[4], odd[4];
    for (int i = 0; i < 4; ++i) difference[i] = v[i] - v[7 - i];
    const V outer_sum = v[0] + v[7] + v[3] + v[4], outer = v[0] + v[7] - v[3] - v[4];
    const V inner_sum = v[1] + v[6] + v[2] + v[5], inner = v[1] + v[6] - v[2] - v[5];
    multiply_odd(difference, odd);
    v[0] = ((outer_sum + inner_sum) * (1 << cosine_bits) + half) >> shift;
    v[4] = ((outer_sum - inner_sum) * (1 << cosine_bits) + half) >> shift;
    v[2] = (10703 * outer + 4433 * inner + half) >> shift;
    v[6] = (4433 * outer - 10704 * inner + half) >> shift;
    for (int i = 0; i < 4; ++i) v[2 * i + 1] = (odd[i] + half) >> shift;
}

// The coefficients are those of JPEG; the second pass gives samples.
template <DctPass Pass, class V>
inline void inverse_dct(V (&v)[8]) {
    constexpr int shift = Pass == DctPass::first ? cosine_bits - intermediate_bits
                                                 : cosine_bits + intermediate_bits + coefficient_scale,
                  half = 1 << (shift - 1);
    const V outer = (v[0] + v[4]) * (1 << cosine_bits) + half, inner = (v[0] - v[4]) * (1 << cosine_bits) + half;
    const V outer_part = 10703 * v[2] + 4433 * v[6], inner_part = 4433 * v[2] - 10704 * v[6];
    const V even[4] = {outer + outer_part, inner + inner_part, inner - inner_part, outer - outer_part};
    const V coefficients[4] = {v[1], v[3], v[5], v[7]};
    V odd[4];
    multiply_odd(coefficients, odd);
    for (int i = 0; i < 4; ++i) {
        v[i] = (even[i] + odd[i]) >> shift;
        v[7 - i] = (even[i] - odd[i]) >> shift;
    }
}

}  // namespace cuaug
