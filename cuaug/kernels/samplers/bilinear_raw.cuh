#pragma once

#include "gpu/raw_box.cuh"
#include "samplers/bilinear_u8.cuh"
#include "samplers/bilinear_fixed.cuh"

// Bilinear interpolation from raw boxes, which hold the input as it lies in memory (gpu/raw_box.cuh).

namespace cuaug {

// Two adjacent pixels of three bytes in words as they lie in memory, r g b r and g b: the second r, g, b are the right
// pixel's.
struct PixelPair3 {
    Word first, second;
};

template <class Box>
inline PixelPair3 load_pixel_pair3(const Box&, unsigned int address, unsigned int shift) {
    const Word a = Box::template at<Word>(address), b = Box::template at<Word>(address + 4),
               c = Box::template at<Word>(address + 8);
    return {__funnelshift_r(a, b, shift), __funnelshift_r(b, c, shift)};
}

template <class Layout, int K, int Plane>
inline BiasedU8<K> bilinear(const RawBox<Layout, uint8, K, Plane>& box, const FixedPoint& p) {
    const Word above = address_of(p, box.step, box.pitch, box.corner), below = above + box.pitch;
    if constexpr (is_same_v<Layout, Packed> && K == 4) {
        return bilinear<K>(above, below, bilinear_weights(p));
    } else if constexpr (is_same_v<Layout, Packed> && K == 3) {
        const auto [left, right] = bilinear_weights(p);
        const unsigned int address = above & ~3u, shift = above << 3;  // a funnel shift takes the lower five bits
        const PixelPair3 upper = load_pixel_pair3(box, address, shift),
                         lower = load_pixel_pair3(box, address + box.pitch, shift);
        // Red and green of the left pixels; their blue and the right pixels' red; green and blue of the right pixels.
        // Bytes of the upper and the lower pixel alternate.
        const Word rg = __byte_perm(upper.first, lower.first, low_bytes),
                   br = __byte_perm(upper.first, lower.first, high_bytes),
                   gb = __byte_perm(upper.second, lower.second, low_bytes);
        return {{to_biased_level(__dp2a_lo(left, rg, __dp2a_hi(right, br, 0u))),
                 to_biased_level(__dp2a_hi(left, rg, __dp2a_lo(right, gb, 0u))),
                 to_biased_level(__dp2a_lo(left, br, __dp2a_hi(right, gb, 0u)))}};
    } else {
        return weighted_taps<K>(upper_fraction(p.x), upper_fraction(p.y), [&](int k, int right, int lower) {
            return box.element(lower ? below : above, k, right);
        });
    }
}

template <class Layout, class T, int K, int Plane>
inline Pixel<float, K> bilinear(const RawBox<Layout, T, K, Plane>& box, const FixedPoint& p) {
    const unsigned int above = address_of(p, box.step, box.pitch, box.corner);
    RawPixel<T, K> upper[2], lower[2];
    box.pair(above, upper);
    box.pair(above + box.pitch, lower);
    return bilinear(p, upper, lower);
}

}  // namespace cuaug
