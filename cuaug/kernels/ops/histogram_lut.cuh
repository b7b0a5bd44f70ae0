#pragma once

#include "ops/adjust_contrast.cuh"
#include "ops/autocontrast.cuh"

namespace cuaug {

// What is done to the levels of a sample, by its parameter.
enum HistogramLut { identity, equalize, autocontrast, adjust_contrast };

// Where a level goes to be equalized: as many levels up as there are pixels below it, in steps of a 255th of the pixels
// that are not of the highest level present, rounded (Pillow's rule, and torchvision's). An image of fewer pixels than
// that stays.
inline uint8 equalize_level(int level, long long below, long long not_highest) {
    const long long step = not_highest / 255;
    if (step == 0) return static_cast<uint8>(level);
    const long long to = (below + step / 2) / step;
    return static_cast<uint8>(to < 255 ? to : 255);
}

// Where a level goes to be spread from the darkest to the brightest: as the op takes it.
inline uint8 autocontrast_level(int level, int low, int high) {
    const Autocontrast<float, 1> op = {{static_cast<float>(low)}, {static_cast<float>(high)}};
    const Pixel<float, 1> in = {{static_cast<float>(level) * (1.0f / 255.0f)}};
    return static_cast<uint8>(op(in, {0, 0, 1, 1, 255.0f, 255.0f}).c[0] * 255.0f + 0.5f);
}

// Where a level goes by a contrast about the mean luma: as the op takes it.
inline uint8 adjust_contrast_level(int level, float factor, double mean) {
    float params[2] = {factor, static_cast<float>(mean)};
    AdjustContrast<float, 1>::prepare(params, 255.0f);
    const Pixel<float, 1> in = {{static_cast<float>(level) * (1.0f / 255.0f)}};
    return saturate_cast<uint8>(AdjustContrast<float, 1>{params[0], params[1]}(in, {}).c[0] * 255.0f);
}

// The mean luma, by the sums of the levels of the first three channels; of other images than of three, by the first.
inline double mean_luma(const long long* sums, int channels, long long pixels) {
    Pixel<double, 3> sum = {};
    for (int k = 0; k < (channels == 3 ? 3 : 1); ++k) sum.c[k] = static_cast<double>(sums[k]);
    return (channels == 3 ? luma(sum) : sum.c[0]) / static_cast<double>(pixels);
}

}  // namespace cuaug
