#pragma once

#include "grayscale.cuh"

namespace cuaug {

// Every channel the luma, of the samples whose turn it is.
template <class R, int K>
struct RandomGrayscale {
    static constexpr int shared = 1, each = 0;
    R grey;

    // All pixels of a sample go the same way.
    template <int N>
    void apply(Pixel<R, K> (&pixels)[N], const Where<R> (&where)[N]) const {
        if (grey == R(0)) return;
        for (int i = 0; i < N; ++i) pixels[i] = Grayscale<R, K>()(pixels[i], where[i]);
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const { return grey == R(0) ? in : Grayscale<R, K>()(in, where); }
};

}  // namespace cuaug
