#pragma once

#include "pixel.cuh"
#include "ops/pixel_context.cuh"

// What color ops share.

namespace cuaug {

template <class R, int K>
inline Pixel<R, K> splat(R level) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = level;
    return out;
}

// a * b + c clamped to 0..1, a NaN to 0; and 1 / x, to within an ulp. Defined once per compiler: a GPU has an
// instruction for each.
float fma_saturate(float a, float b, float c);
double fma_saturate(double a, double b, double c);
float reciprocal(float value);
double reciprocal(double value);

// factor * in + add, clamped to 0..1 as torchvision does after each op.
template <class R, int K>
inline Pixel<R, K> fma_saturate(R factor, const Pixel<R, K>& in, R add) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = fma_saturate(factor, in.c[k], add);
    return out;
}

// A value of 0..1 in the images' range: for integer images a whole number, which a comparison must not miss by an ulp.
template <class R>
inline R to_native_range(R unit, const PixelContext<R>& context) {
    return context.max_value > R(1) ? floor(unit * context.max_value + R(0.5)) : unit;
}

// ITU-R BT.601, with torchvision's digits.
template <class R, int K>
inline R luma(const Pixel<R, K>& in) {
    return R(0.2989) * in.c[0] + R(0.587) * in.c[1] + R(0.114) * in.c[2];
}

}  // namespace cuaug
