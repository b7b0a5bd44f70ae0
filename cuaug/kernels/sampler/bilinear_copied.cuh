#pragma once

#include "../gpu/copied.cuh"
#include "bilinear_bytes.cuh"
#include "bilinear_fixed.cuh"

// Bilinear interpolation of boxes that hold the input as it lies in memory (gpu/copied.cuh).

namespace cuaug {

// Two pixels of three bytes from an address on, as words of a channel each: r0 r1 g0 g1 and b0 b1.
struct PairOfThree {
    Word rg, b;
};

template <class Box>
inline PairOfThree pair_of_three(const Box&, unsigned int word, unsigned int shift) {
    const Word a = Box::template at<Word>(word), b = Box::template at<Word>(word + 4), c = Box::template at<Word>(word + 8);
    const Word first = __funnelshift_r(a, b, shift), last = __funnelshift_r(b, c, shift);
    return {__byte_perm(first, last, 0x4130), __byte_perm(first, last, 0x0052)};
}

template <class Layout, int K, int Plane>
inline Levels<K> bilinear(const CopiedBox<Layout, uint8, K, Plane>& box, const FixedPoint& p) {
    if constexpr (Same<Layout, Packed>::value && K > 2) {
        const ByteWeights weights = byte_weights(p);
        const Word above = address_of(p, box.step, box.pitch, box.corner);
        if constexpr (K == 4) {
            return bilinear<K>(above, above + box.pitch, weights);
        } else {
            const auto [upper, lower] = weights;
            const unsigned int word = above & ~3u, shift = above << 3;  // of which a funnel shift takes five bits
            const PairOfThree u = pair_of_three(box, word, shift), l = pair_of_three(box, word + box.pitch, shift);
            return {{level(__dp2a_lo(upper, u.rg, __dp2a_lo(lower, l.rg, level_start))), level(__dp2a_hi(upper, u.rg, __dp2a_hi(lower, l.rg, level_start))),
                     level(__dp2a_lo(upper, u.b, __dp2a_lo(lower, l.b, level_start)))}};
        }
    } else {
        const Word r = (p.x >> 9) & 0x7fff, f = (p.y >> 9) & 0x7fff, both = r * f >> 15;
        const Word above = address_of(p, box.step, box.pitch, box.corner), below = above + box.pitch;
        const Word right = r - both, low = f - both, left = 32768 - r - low;
        Levels<K> out;
        for (int k = 0; k < K; ++k)
            out.of[k] = level(left * box.element(above, k, 0) + right * box.element(above, k, 1) + low * box.element(below, k, 0) + both * box.element(below, k, 1) + level_start);
        return out;
    }
}

template <class Layout, class T, int K, int Plane>
inline Pixel<float, K> bilinear(const CopiedBox<Layout, T, K, Plane>& box, const FixedPoint& p) {
    const unsigned int above = address_of(p, box.step, box.pitch, box.corner);
    Texel<T, K> upper[2], lower[2];
    box.pair(above, upper);
    box.pair(above + box.pitch, lower);
    return bilinear(p, upper, lower);
}

}  // namespace cuaug
