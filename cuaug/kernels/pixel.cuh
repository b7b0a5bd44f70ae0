#pragma once

#include "dtype.cuh"

namespace cuaug {

// K channels of one pixel, in the compute type.
template <class R, int K>
struct Pixel {
    R c[K];
};

template <class R, int K>
inline Pixel<R, K> operator*(R factor, const Pixel<R, K>& pixel) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = factor * pixel.c[k];
    return out;
}

template <class R, int K>
inline Pixel<R, K> operator+(const Pixel<R, K>& a, const Pixel<R, K>& b) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = a.c[k] + b.c[k];
    return out;
}

// K channels of one pixel, as they are stored.
template <class T, int K>
struct RawPixel {
    T c[K];
};

template <class R, class T, int K>
inline Pixel<R, K> to_pixel(const RawPixel<T, K>& raw_pixel) {
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = to_compute<R>(raw_pixel.c[k]);
    return out;
}

template <class Out, class T, int K>
inline RawPixel<Out, K> to_raw_pixel(const RawPixel<T, K>& raw_pixel) {
    RawPixel<Out, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = convert<Out>(raw_pixel.c[k]);
    return out;
}

template <class Out, class R, int K>
inline RawPixel<Out, K> to_raw_pixel(const Pixel<R, K>& pixel) {
    RawPixel<Out, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = saturate_cast<Out>(pixel.c[k]);
    return out;
}

}  // namespace cuaug
