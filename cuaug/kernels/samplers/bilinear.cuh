#pragma once

#include "geometry/tile_map.cuh"
#include "pixel.cuh"

namespace cuaug {

struct Bilinear {
    static constexpr int taps_before = 0, taps_after = 1;

    template <class R, class Image>
    static auto sample(const Image& image, const Point<R>& p) {
        R fx, fy;
        const int x = image.split_floor(p.x, fx), y = image.split_floor(p.y, fy);
        const R gx = R(1) - fx, gy = R(1) - fy;
        return (gy * gx) * image.pixel(x, y) + (gy * fx) * image.pixel(x + 1, y) + (fy * gx) * image.pixel(x, y + 1) +
               (fy * fx) * image.pixel(x + 1, y + 1);
    }
};

}  // namespace cuaug
