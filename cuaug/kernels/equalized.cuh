#pragma once

#include "ops/autocontrast.cuh"

namespace cuaug {

// Where a level goes to be equalized: as many levels up as there are pixels below it, in steps of a 255th of the pixels that are not of the highest
// level present, rounded (Pillow's rule, and torchvision's). An image of fewer pixels than that stays.
inline uint8 equalized(int level, long long below, long long not_highest) {
    const long long step = not_highest / 255;
    if (step == 0) return static_cast<uint8>(level);
    const long long to = (below + step / 2) / step;
    return static_cast<uint8>(to < 255 ? to : 255);
}

// Where a level goes to be spread from the darkest to the brightest: as the op takes it.
inline uint8 stretched(int level, int low, int high) {
    const Autocontrast<float, 1> op = {{static_cast<float>(low)}, {static_cast<float>(high)}};
    const Pixel<float, 1> in = {{static_cast<float>(level) * (1.0f / 255.0f)}};
    return static_cast<uint8>(op(in, {0, 0, 1, 1, 255.0f, 255.0f}).c[0] * 255.0f + 0.5f);
}

}  // namespace cuaug
