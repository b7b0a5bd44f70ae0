#pragma once

#include "random.cuh"

// Boxes within a canvas.

namespace cuaug {

struct DrawnBox {
    double top, left, height, width;
};

// Half to even, as Python's round.
inline double rounded(double value) { return rint(value); }

// torchvision's: ten attempts at an area and an aspect ratio, then the largest central box whose ratio is allowed.
inline DrawnBox resized_crop_box(Random& random, int height, int width, const double* scale, const double* ratio) {
    const double area = static_cast<double>(height) * width, low = log(ratio[0]), high = log(ratio[1]);
    for (int attempt = 0; attempt < 10; ++attempt) {
        const double wanted = area * random.uniform(scale[0], scale[1]), aspect = exp(random.uniform(low, high));
        const int w = static_cast<int>(rounded(sqrt(wanted * aspect))), h = static_cast<int>(rounded(sqrt(wanted / aspect)));
        if (w > 0 && w <= width && h > 0 && h <= height) {
            const int top = random.below(height - h + 1), left = random.below(width - w + 1);
            return {static_cast<double>(top), static_cast<double>(left), static_cast<double>(h), static_cast<double>(w)};
        }
    }
    const double own = static_cast<double>(width) / height;
    const int w = own > ratio[1] ? static_cast<int>(rounded(height * ratio[1])) : width;
    const int h = own < ratio[0] ? static_cast<int>(rounded(width / ratio[0])) : height;
    return {static_cast<double>((height - h) / 2), static_cast<double>((width - w) / 2), static_cast<double>(h), static_cast<double>(w)};
}

// torchvision's RandomErasing: as above, but the box stays smaller than the canvas, and there is none after ten failures.
inline DrawnBox erased_box(Random& random, int height, int width, const double* scale, const double* ratio) {
    const double area = static_cast<double>(height) * width, low = log(ratio[0]), high = log(ratio[1]);
    for (int attempt = 0; attempt < 10; ++attempt) {
        const double wanted = area * random.uniform(scale[0], scale[1]), aspect = exp(random.uniform(low, high));
        const int h = static_cast<int>(rounded(sqrt(wanted * aspect))), w = static_cast<int>(rounded(sqrt(wanted / aspect)));
        if (h < height && w < width) {
            const int top = random.below(height - h + 1), left = random.below(width - w + 1);
            return {static_cast<double>(top), static_cast<double>(left), static_cast<double>(h), static_cast<double>(w)};
        }
    }
    return {0.0, 0.0, 0.0, 0.0};
}

// CutMix (Yun et al. 2019): a box of the share 1 - `lam`, around a uniform centre, cut off at the canvas.
inline DrawnBox cut_box(Random& random, int height, int width, double lam) {
    const double side = 0.5 * sqrt(1.0 - lam);
    const int half_width = static_cast<int>(side * width), half_height = static_cast<int>(side * height);
    const int x = random.below(width), y = random.below(height);
    const int left = x > half_width ? x - half_width : 0, top = y > half_height ? y - half_height : 0;
    const int right = x + half_width < width ? x + half_width : width, bottom = y + half_height < height ? y + half_height : height;
    return {static_cast<double>(top), static_cast<double>(left), static_cast<double>(bottom - top), static_cast<double>(right - left)};
}

}  // namespace cuaug
