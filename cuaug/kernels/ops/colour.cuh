#pragma once

#include "../pixel.cuh"
#include "where.cuh"

// What colour ops share. An op is a struct of one sample's parameters: `shared` numbers, then `each` numbers a channel.

namespace cuaug {

template <class R, int K>
inline Pixel<R, K> grey(R level) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = level;
    return out;
}

// To 0..1; a NaN to 0. And 1 / x, if only to an ulp. Defined once per compiler, for a GPU does both at once with other things.
float saturated(float value);
double saturated(double value);
float reciprocal(float value);
double reciprocal(double value);

// As torchvision does after each op.
template <class R, int K>
inline Pixel<R, K> clamped(const Pixel<R, K>& in) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = saturated(in.c[k]);
    return out;
}

// A channel in the images' own range; of integer images a whole number, which a comparison must not miss by an ulp.
template <class R>
inline R level(R share, const Where<R>& where) {
    return where.white > R(1) ? floor(share * where.white + R(0.5)) : share;
}

// ITU-R BT.601, with torchvision's digits.
template <class R, int K>
inline R luma(const Pixel<R, K>& in) {
    return R(0.2989) * in.c[0] + R(0.587) * in.c[1] + R(0.114) * in.c[2];
}

}  // namespace cuaug
