#pragma once

#include "geometry/tile_map.cuh"
#include "pixel.cuh"

namespace cuaug {

// The pixel whose area contains the point: its stored value, untouched.
struct Nearest {
    static constexpr int taps_before = 0, taps_after = 1;

    template <class R, class Image>
    static auto sample(const Image& image, const Point<R>& p) {
        return image.raw_pixel(static_cast<int>(floor(p.x + R(0.5))), static_cast<int>(floor(p.y + R(0.5))));
    }
};

}  // namespace cuaug
