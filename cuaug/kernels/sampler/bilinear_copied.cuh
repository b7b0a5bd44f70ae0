#pragma once

#include "../gpu/copied.cuh"
#include "bilinear_bytes.cuh"
#include "bilinear_fixed.cuh"

// Bilinear interpolation of boxes that hold the input as it lies in memory (gpu/copied.cuh).

namespace cuaug {

// Two pixels of three bytes from an address on; the first one's last byte is the second one's first.
template <class Box>
inline void pair_of_three(const Box&, unsigned int word, unsigned int shift, Word (&pair)[2]) {
    const Word a = Box::template at<Word>(word), b = Box::template at<Word>(word + 4), c = Box::template at<Word>(word + 8);
    pair[0] = __funnelshift_r(a, b, shift), pair[1] = __funnelshift_r(b, c, shift);
}

template <class Layout, int K, int Plane>
inline Levels<K> bilinear(const CopiedBox<Layout, uint8, K, Plane>& box, const FixedPoint& p) {
    const Word above = address_of(p, box.step, box.pitch, box.corner), below = above + box.pitch;
    if constexpr (Same<Layout, Packed>::value && K == 4) {
        return bilinear<K>(above, below, byte_weights(p));
    } else if constexpr (Same<Layout, Packed>::value && K == 3) {
        const auto [left, right] = byte_weights(p);
        const unsigned int word = above & ~3u, shift = above << 3;  // of which a funnel shift takes five bits
        Word upper[2], lower[2];
        pair_of_three(box, word, shift, upper);
        pair_of_three(box, word + box.pitch, shift, lower);
        const Word rg = __byte_perm(upper[0], lower[0], 0x5140), br = __byte_perm(upper[0], lower[0], 0x7362), gb = __byte_perm(upper[1], lower[1], 0x5140);
        return {{level(__dp2a_lo(left, rg, __dp2a_hi(right, br, 0u))), level(__dp2a_hi(left, rg, __dp2a_lo(right, gb, 0u))),
                 level(__dp2a_lo(left, br, __dp2a_hi(right, gb, 0u)))}};
    } else {
        // As `byte_weights`, each by itself.
        const Word r = __byte_perm(p.x, 0, 0x4421), f = __byte_perm(p.y, 0, 0x4421), both = r * f >> 16;
        const Word right = r - both, low = f - both, left = 65536 - r - low;
        Levels<K> out;
        for (int k = 0; k < K; ++k)
            out.of[k] = level(left * box.element(above, k, 0) + right * box.element(above, k, 1) + low * box.element(below, k, 0) + both * box.element(below, k, 1));
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
