#pragma once

#include "draws/random.cuh"

// Boxes within a canvas.

namespace cuaug {

struct DrawnBox {
    double top, left, height, width;
};

// Half to even, as Python's round.
inline double rounded(double value) { return rint(value); }

// What boxes are drawn from, as the program holds it: shares of the canvas, logarithms of width by height, and these
// themselves.
struct BoxRange {
    double scale[2], log_ratio[2], ratio[2];
};

struct Sides {
    int width, height;
};

inline Sides drawn_sides(Random& random, double area, const BoxRange& range) {
    const double side = sqrt(area * random.uniform(range.scale[0], range.scale[1]));
    const double root = exp(0.5 * random.uniform(range.log_ratio[0], range.log_ratio[1]));
    return {static_cast<int>(rounded(side * root)), static_cast<int>(rounded(side / root))};
}

inline DrawnBox placed(Random& random, int height, int width, const Sides& sides) {
    const int top = random.below(height - sides.height + 1), left = random.below(width - sides.width + 1);
    return {static_cast<double>(top), static_cast<double>(left), static_cast<double>(sides.height),
            static_cast<double>(sides.width)};
}

// A box of the first of ten pairs of sides that are no shorter than `least`, and no longer than the canvas less
// `margin`; false if none is. Two at once: neither waits for the other.
inline bool attempted(Random& random, int height, int width, const BoxRange& range, int least, int margin,
                      DrawnBox& box) {
    const double area = static_cast<double>(height) * width;
    auto fits = [&](const Sides& s) {
        return s.width >= least && s.width <= width - margin && s.height >= least && s.height <= height - margin;
    };
    for (int attempt = 0; attempt < 10; attempt += 2) {
        const Sides one = drawn_sides(random, area, range), other = drawn_sides(random, area, range);
        const bool first = fits(one);
        if (first)
            random.return_words(2);
        else
            random.renew();
        if (!first && !fits(other)) continue;
        box = placed(random, height, width, first ? one : other);
        return true;
    }
    return false;
}

// The largest box in the middle whose ratio is allowed.
__attribute__((noinline)) inline DrawnBox central_box(int height, int width, const BoxRange& range) {
    const double own = static_cast<double>(width) / height;
    const int w = own > range.ratio[1] ? static_cast<int>(rounded(height * range.ratio[1])) : width;
    const int h = own < range.ratio[0] ? static_cast<int>(rounded(width / range.ratio[0])) : height;
    return {static_cast<double>((height - h) / 2), static_cast<double>((width - w) / 2), static_cast<double>(h),
            static_cast<double>(w)};
}

// torchvision's RandomResizedCrop, or its RandomErasing: then the box is smaller than the canvas, and after ten
// failures there is none.
inline DrawnBox attempted_box(Random& random, int height, int width, const BoxRange& range, bool erased) {
    DrawnBox box = {0.0, 0.0, 0.0, 0.0};
    if (attempted(random, height, width, range, erased ? 0 : 1, erased ? 1 : 0, box) || erased) return box;
    return central_box(height, width, range);
}

// CutMix (Yun et al. 2019): a box of the share 1 - `lam`, around a uniform centre, cut off at the canvas.
inline DrawnBox cut_box(Random& random, int height, int width, double lam) {
    const double side = 0.5 * sqrt(1.0 - lam);
    const int half_width = static_cast<int>(side * width), half_height = static_cast<int>(side * height);
    const int x = random.below(width), y = random.below(height);
    const int left = x > half_width ? x - half_width : 0, top = y > half_height ? y - half_height : 0;
    const int right = x + half_width < width ? x + half_width : width,
              bottom = y + half_height < height ? y + half_height : height;
    return {static_cast<double>(top), static_cast<double>(left), static_cast<double>(bottom - top),
            static_cast<double>(right - left)};
}

}  // namespace cuaug
