#pragma once

#include "gpu/stage.cuh"

// Bilinear interpolation in float32 at fixed-point coordinates (gpu/fixed_point.cuh).

namespace cuaug {

// Each fraction and its complement come from the bits of 1 + fraction. Every fma is written out, so that all kernels
// round alike.
template <class T, int K>
inline Pixel<float, K> bilinear(const FixedPoint& p, const RawPixel<T, K> (&upper)[2],
                                const RawPixel<T, K> (&lower)[2]) {
    auto one_plus_fraction = [](Word fixed) { return __uint_as_float((fixed >> 1 & 0x7fffff) | 0x3f800000); };
    const float x = one_plus_fraction(p.x), y = one_plus_fraction(p.y), fx = x - 1.0f, gx = 2.0f - x, fy = y - 1.0f,
                gy = 2.0f - y;
    const float w00 = gy * gx, w01 = gy * fx, w10 = fy * gx, w11 = fy * fx;
    auto channel = [](const RawPixel<T, K>& raw_pixel, int k) { return to_compute<float>(raw_pixel.c[k]); };
    Pixel<float, K> out;
    for (int k = 0; k < K; ++k)
        out.c[k] = __fmaf_rn(w11, channel(lower[1], k),
                             __fmaf_rn(w10, channel(lower[0], k),
                                       __fmaf_rn(w01, channel(upper[1], k), __fmul_rn(w00, channel(upper[0], k)))));
    return out;
}

template <class T, int K>
inline Pixel<float, K> bilinear(const StagedBox<T, K>& box, const FixedPoint& p) {
    const RawPixel<T, K> upper[2] = {box.raw_pixel(p), box.raw_pixel(p, 1)},
                         lower[2] = {box.raw_pixel(p, 0, 1), box.raw_pixel(p, 1, 1)};
    return bilinear(p, upper, lower);
}

}  // namespace cuaug
