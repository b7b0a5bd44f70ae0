#pragma once

#include "dtype.cuh"

namespace cuaug {

// Where a level goes: as many levels up as there are pixels below it, in steps of a 255th of the pixels that are not of the highest
// level present, rounded (Pillow's rule, and torchvision's). An image of fewer pixels than that stays.
inline uint8 equalized(int level, long long below, long long not_highest) {
    const long long step = not_highest / 255;
    if (step == 0) return static_cast<uint8>(level);
    const long long to = (below + step / 2) / step;
    return static_cast<uint8>(to < 255 ? to : 255);
}

}  // namespace cuaug
