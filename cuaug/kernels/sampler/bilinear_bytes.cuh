#pragma once

#include "../geometry/local.cuh"
#include "../gpu/bytes.cuh"
#include "../gpu/fixed.cuh"

namespace cuaug {

// Half of the step that weights of bytes come in: coordinates are given with it added, so that rounding down below is rounding.
constexpr float byte_nudge = 1.0f / 131072.0f;

// The four weights of a point, of 16 bits and summing to 2^16, those of a column in a word: (1-r)(1-f) and (1-r) f, r (1-f) and r f.
struct ByteWeights {
    Word left;
    Word right;
};

// r, f and their product, rounded down. None of the weights is negative, and 2^16, which a pixel has that counts alone, is cut to what 16 bits hold: its level stays.
inline ByteWeights byte_weights(Word r, Word f, Word both) {
    const Word low = f - both;
    return {65536 * low + min(65536 - r - low, 65535u), 65535 * both + r};
}

// A sum of levels, times weights of 16 bits, is below 2^24: as the bits of a float it is so many times 2^-149, which is a denormal or of the first exponent above. Adding
// 2^17 to 2^-6 of its levels leaves a level in the low bits, rounded half to even: a conversion on the otherwise idle float pipe, whatever -ftz says.
constexpr float level_unit = 1.0f / 64.0f, level_bias = 131072.0f;
inline float level(Word sum) { return __fmaf_ieee_rn(__uint_as_float(sum), 1.7014118346046923e38f, level_bias); }

// Levels as floats, of whose bits they are the lowest byte: `level_bias`, and so many times `level_unit`.
template <int K>
struct Levels {
    float of[K];
};

// Bilinear interpolation of pixels of up to four bytes, `above` and `below` each a pair of them: two taps of a channel, one below the other, in one __dp2a. 99.9 % of
// uniform noise come out as from exact weights, the rest one level off.
template <int K>
inline Levels<K> bilinear(const Word (&above)[2], const Word (&below)[2], const ByteWeights& weights) {
    Levels<K> out;
    for (int k = 0; k < K; k += 2) {
        const int halves = k ? 0x7362 : 0x5140;
        const Word left = __byte_perm(above[0], below[0], halves), right = __byte_perm(above[1], below[1], halves);
        out.of[k] = level(__dp2a_lo(weights.left, left, __dp2a_lo(weights.right, right, 0u)));
        if (k + 1 < K) out.of[k + 1 < K ? k + 1 : k] = level(__dp2a_hi(weights.left, left, __dp2a_hi(weights.right, right, 0u)));
    }
    return out;
}

// From their addresses in shared memory, in words.
template <int K>
inline Levels<K> bilinear(unsigned int above, unsigned int below, const ByteWeights& weights) {
    auto word = [](unsigned int at) { return *static_cast<const Word*>(__cvta_shared_to_generic(at)); };
    return bilinear<K>({word(above), word(above + 4)}, {word(below), word(below + 4)}, weights);
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
    for (int k = 0; k < K; ++k) out.c[k] = __fmaf_rn(levels.of[k], byte_share / level_unit, -level_bias / level_unit * byte_share);
    return out;
}

inline ByteWeights byte_weights(const FixedPoint& p) {
    const Word r = __byte_perm(p.x, 0, 0x4421), f = __byte_perm(p.y, 0, 0x4421);
    return byte_weights(r, f, r * f >> 16);
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
    constexpr float ulp = 1.0f / 4194304.0f, one = 65536.0f, bias = 8388608.0f;
    constexpr Word start = 0x4B000000;  // the bits of `bias`
    const float tx = __fmaf_rd(p.x, ulp, 2.0f), ty = __fmaf_rd(p.y, ulp, 2.0f);
    const float fx = p.x * one - (tx * (one / ulp) - 2.0f * one / ulp), fy = p.y - (ty - 2.0f) / ulp;
    auto whole = [](float biased) { return __float_as_uint(biased) - start; };
    const ByteWeights weights = byte_weights(whole(__fadd_rd(fx, bias)), whole(__fmaf_rd(fy, one, bias)), whole(__fmaf_rd(fx, fy, bias)));
    const Word row = 4 * pitch, above = __float_as_uint(ty) * row + (4 * __float_as_uint(tx) + static_cast<Word>(__cvta_generic_to_shared(pixels)));
    return bilinear<K>(above, above + row, weights);
}

}  // namespace cuaug
