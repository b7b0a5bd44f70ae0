#pragma once

#include "geometry/tile_map.cuh"
#include "pixel.cuh"
#include "samplers/bilinear.cuh"
#include "samplers/nearest.cuh"
#include "type_list.cuh"

namespace cuaug {

// An interpolation whose weight is a product of one weight per axis; `Kernel::weights` computes those of one axis.
template <class Kernel>
struct Separable {
    static constexpr int taps = Kernel::taps, taps_before = taps / 2 - 1, taps_after = taps / 2;

    template <class R, class Image>
    static auto sample(const Image& image, const Point<R>& p) {
        R fx, fy, wx[taps], wy[taps];
        const int x = image.split_floor(p.x, fx) - taps_before, y = image.split_floor(p.y, fy) - taps_before;
        Kernel::weights(fx, wx);
        Kernel::weights(fy, wy);
        auto row = [&](int j) {
            auto sum = wx[0] * image.pixel(x, y + j);
            for (int i = 1; i < taps; ++i) sum = sum + wx[i] * image.pixel(x + i, y + j);
            return sum;
        };
        auto sum = wy[0] * row(0);
        for (int j = 1; j < taps; ++j) sum = sum + wy[j] * row(j);
        return sum;
    }
};

// Keys 1981 with a = -0.75, the value of OpenCV and torch.
struct CubicWeights {
    static constexpr int taps = 4;

    template <class R>
    static void weights(R t, R* w) {
        const R a = R(-0.75), s = R(1) - t;
        w[0] = a * t * s * s;
        w[1] = ((a + R(2)) * t - (a + R(3))) * t * t + R(1);
        w[2] = ((a + R(2)) * s - (a + R(3))) * s * s + R(1);
        w[3] = a * s * t * t;
    }
};

// sinc(x) sinc(x / 4) over 8 taps, divided by its sum, as OpenCV's INTER_LANCZOS4. sin(pi (t - k)) differs between taps
// only in its sign: the division by the sum cancels its magnitude. sin(pi (t - k) / 4) differs by eighths of a turn:
// one sine and one cosine give those of all eight taps.
struct LanczosWeights {
    static constexpr int taps = 8;

    template <class R>
    static void weights(R t, R* w) {
        const R pi = R(3.14159265358979323846), diagonal = R(0.70710678118654752440);
        const R s = sin(t * pi / R(4)), c = cos(t * pi / R(4));
        const R quarter[4] = {s, (s - c) * diagonal, -c, -(s + c) * diagonal};  // sin(pi (t - k) / 4), k = 0..3
        R sum = R(0);
        for (int i = 0; i < taps; ++i) {
            const int k = i - 3;
            const R distance = t - static_cast<R>(k), quarter_sine = (k & ~3) == 0 ? quarter[k & 3] : -quarter[k & 3];
            w[i] = (k & 1 ? -quarter_sine : quarter_sine) / (distance * distance);
            sum += w[i];
        }
        // At the centre of a pixel the weight would be 0/0: this pixel's tap takes all the weight.
        const bool at_left_pixel = t * t < R(1e-12), at_right_pixel = (R(1) - t) * (R(1) - t) < R(1e-12);
        for (int i = 0; i < taps; ++i) w[i] = at_left_pixel || at_right_pixel ? R(0) : w[i] / sum;
        if (at_left_pixel) w[3] = R(1);
        if (at_right_pixel) w[4] = R(1);
    }
};

struct Bicubic : Separable<CubicWeights> {};
struct Lanczos : Separable<LanczosWeights> {};

using Samplers = TypeList<Nearest, Bilinear, Bicubic, Lanczos>;

}  // namespace cuaug
