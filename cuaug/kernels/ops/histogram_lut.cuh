#pragma once

#include "ops/adjust_contrast.cuh"
#include "ops/autocontrast.cuh"

namespace cuaug {

// How a sample's lookup table is made: the values of parameter 0 of passes/histogram_lut.cu.
enum HistogramLut { identity, equalize, autocontrast, adjust_contrast };

// Histogram equalization as in Pillow and torchvision. step = (pixels below the highest level present) / 255; result =
// (pixels below this level + step / 2) / step, at most 255. With step 0 the level is unchanged.
inline uint8 equalize_level(int level, long long below, long long below_highest) {
    const long long step = below_highest / 255;
    if (step == 0) return static_cast<uint8>(level);
    const long long result = (below + step / 2) / step;
    return static_cast<uint8>(result < 255 ? result : 255);
}

// The level after Autocontrast, computed by the op itself.
inline uint8 autocontrast_level(int level, int low, int high) {
    float params[2] = {static_cast<float>(low), static_cast<float>(high)};
    Autocontrast<float, 1>::prepare(params, 255.0f);
    const Autocontrast<float, 1> op = {{params[0]}, {params[1]}};
    const Pixel<float, 1> in = {{static_cast<float>(level) * (1.0f / 255.0f)}};
    return static_cast<uint8>(op(in, {0, 0, 1, 1, 255.0f, 255.0f}).c[0] * 255.0f + 0.5f);
}

// The level after AdjustContrast about the mean luma, computed by the op itself.
inline uint8 adjust_contrast_level(int level, float factor, double mean) {
    float params[2] = {factor, static_cast<float>(mean)};
    AdjustContrast<float, 1>::prepare(params, 255.0f);
    const Pixel<float, 1> in = {{static_cast<float>(level) * (1.0f / 255.0f)}};
    return saturate_cast<uint8>(AdjustContrast<float, 1>{params[0], params[1]}(in, {}).c[0] * 255.0f);
}

// The mean luma from the sums of the levels of three channels; for other channel counts the mean of the first channel.
inline double mean_luma(const long long* sums, int channels, long long pixels) {
    Pixel<double, 3> sum = {};
    for (int k = 0; k < (channels == 3 ? 3 : 1); ++k) sum.c[k] = static_cast<double>(sums[k]);
    return (channels == 3 ? luma(sum) : sum.c[0]) / static_cast<double>(pixels);
}

}  // namespace cuaug
