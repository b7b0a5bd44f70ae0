#pragma once

#include "geometry/tile_map.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/fixed_point.cuh"

namespace cuaug {

// Half of a step of the weights. It is added to coordinates, so that rounding down rounds to nearest.
constexpr float u8_half_weight_step = 1.0f / 131072.0f;

// The weights of the four pixels around a point whose coordinates have the fractions x and y, in units of 2^-16. One
// word per column, the upper pixel's weight in its lower half: (1-x)(1-y) and (1-x) y, x (1-y) and x y.
struct BilinearWeights {
    Word left;
    Word right;
};

// Computed from both fractions and their product, each rounded down, so that no weight is negative. A single pixel's
// weight of 2^16 is cut to the largest 16-bit number: the final rounding hides the difference. The right column is
// 65536 lower_right + (fraction_x - lower_right), in one multiplication and addition.
inline BilinearWeights bilinear_weights(Word fraction_x, Word fraction_y, Word lower_right) {
    const Word lower_left = fraction_y - lower_right;
    return {65536 * lower_left + min(65536 - fraction_x - lower_left, 65535u), 65535 * lower_right + fraction_x};
}

// Converts a weighted sum (2^16 x level, below 2^24) without an integer-to-float instruction: read as float bits, n is
// n x 2^-149; times 2^127 plus 2^17, in one fma, gives 2^17 + level / 64, rounded half to even, with the level in the
// lowest byte. This uses the otherwise idle float pipe. `ieee`: denormals count, although CuPy compiles with -ftz.
constexpr float level_unit = 1.0f / 64.0f, level_bias = 131072.0f;
inline float to_biased_level(Word sum) { return __fmaf_ieee_rn(__uint_as_float(sum), 0x1p127f, level_bias); }

// Levels n as floats level_bias + n * level_unit, whose lowest byte is n.
template <int K>
struct BiasedU8 {
    float c[K];
};

// Bilinear interpolation of pixels of one word each, a pair `above` and a pair `below`: one __dp2a takes two taps
// of a channel, one below the other. On uniform noise 99.9 % of the results equal those of exact weights, the rest is
// off by one level.
template <int K>
inline BiasedU8<K> bilinear(const Word (&above)[2], const Word (&below)[2], const BilinearWeights& weights) {
    BiasedU8<K> out;
    for (int k = 0; k < K; ++k) {
        const int selector = k < 2 ? low_bytes : high_bytes;
        const Word left = __byte_perm(above[0], below[0], selector), right = __byte_perm(above[1], below[1], selector);
        out.c[k] = to_biased_level(k % 2 ? __dp2a_hi(weights.left, left, __dp2a_hi(weights.right, right, 0u))
                                         : __dp2a_lo(weights.left, left, __dp2a_lo(weights.right, right, 0u)));
    }
    return out;
}

// The same from the shared memory addresses of the left pixels.
template <int K>
inline BiasedU8<K> bilinear(unsigned int above, unsigned int below, const BilinearWeights& weights) {
    auto word = [](unsigned int at) { return *static_cast<const Word*>(__cvta_shared_to_generic(at)); };
    return bilinear<K>({word(above), word(above + 4)}, {word(below), word(below + 4)}, weights);
}

// For taps that come one by one, as tap(k, right, below), with each weight in a word.
template <int K, class Tap>
inline BiasedU8<K> weighted_taps(Word fraction_x, Word fraction_y, const Tap& tap) {
    const Word lower_right = fraction_x * fraction_y >> 16, upper_right = fraction_x - lower_right,
               lower_left = fraction_y - lower_right, upper_left = 65536 - fraction_x - lower_left;
    BiasedU8<K> out;
    for (int k = 0; k < K; ++k)
        out.c[k] = to_biased_level(upper_left * tap(k, 0, 0) + upper_right * tap(k, 1, 0) + lower_left * tap(k, 0, 1) +
                                   lower_right * tap(k, 1, 1));
    return out;
}

template <int K>
inline BiasedU8<K> to_biased(const RawPixel<uint8, K>& raw_pixel) {
    BiasedU8<K> out;
    for (int k = 0; k < K; ++k) out.c[k] = to_biased_level(static_cast<Word>(raw_pixel.c[k]) << 16);
    return out;
}

// The levels as the first K bytes; the other bytes are arbitrary.
template <int K>
inline WordPixel<uint8, K> to_word_pixel(const BiasedU8<K>& levels) {
    auto bits = [&](int k) { return __float_as_uint(levels.c[k < K ? k : 0]); };
    if constexpr (K == 1) return {{bits(0)}};
    const Word rg = __byte_perm(bits(0), bits(1), 0x0040);
    if constexpr (K == 2) return {{rg}};
    if constexpr (K == 3) return {{__byte_perm(rg, bits(2), 0x0410)}};
    return {{__byte_perm(rg, __byte_perm(bits(2), bits(3), 0x0040), 0x5410)}};
}

template <class R, int K>
inline Pixel<R, K> to_unit_range(const BiasedU8<K>& levels) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k)
        out.c[k] = __fmaf_rn(levels.c[k], inv_255 / level_unit, -level_bias / level_unit * inv_255);
    return out;
}

// The upper 16 bits of the 24 of a fraction.
inline Word upper_fraction(Word coordinate) { return __byte_perm(coordinate, 0, 0x4421); }

inline BilinearWeights bilinear_weights(const FixedPoint& p) {
    const Word fraction_x = upper_fraction(p.x), fraction_y = upper_fraction(p.y);
    return bilinear_weights(fraction_x, fraction_y, fraction_x * fraction_y >> 16);
}

template <int K>
inline BiasedU8<K> bilinear(const WordPixel<uint8, K>* pixels, int pitch, const FixedPoint& p) {
    const BilinearWeights weights = bilinear_weights(p);
    const Word row = 4 * pitch, above = address_of(p, 4, row, static_cast<Word>(__cvta_generic_to_shared(pixels)));
    return bilinear<K>(above, above + row, weights);
}

// The same from float coordinates: adding a power of two leaves the integer part in the low bits, here rounded
// down.
template <int K>
inline BiasedU8<K> bilinear(const WordPixel<uint8, K>* pixels, int pitch, const Point<float>& p) {
    // 2 + x 2^-22 rounded down has the bits 0x40000000 + floor(x). Times the 4 bytes of a pixel, the constant is a
    // multiple of 2^32 and has no effect.
    constexpr float ulp = 1.0f / 4194304.0f, weight_scale = 65536.0f, bias = 8388608.0f;
    constexpr Word bias_bits = 0x4B000000;
    const float tx = __fmaf_rd(p.x, ulp, 2.0f), ty = __fmaf_rd(p.y, ulp, 2.0f);
    // fx is in units of 2^-16 and fy is not, so that their product is in units of 2^-16.
    const float fx = p.x * weight_scale - (tx * (weight_scale / ulp) - 2.0f * weight_scale / ulp),
                fy = p.y - (ty - 2.0f) / ulp;
    auto integer_part = [](float biased) { return __float_as_uint(biased) - bias_bits; };
    const BilinearWeights weights =
        bilinear_weights(integer_part(__fadd_rd(fx, bias)), integer_part(__fmaf_rd(fy, weight_scale, bias)),
                         integer_part(__fmaf_rd(fx, fy, bias)));
    const Word row = 4 * pitch, above = __float_as_uint(ty) * row +
                                        (4 * __float_as_uint(tx) + static_cast<Word>(__cvta_generic_to_shared(pixels)));
    return bilinear<K>(above, above + row, weights);
}

}  // namespace cuaug
