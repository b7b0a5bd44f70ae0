#pragma once

#include "draws/random.cuh"

// Boxes drawn within a canvas.

namespace cuaug {

struct DrawnBox {
    double top, left, height, width;
};

// Half to even, as Python's round.
inline double round_half_even(double value) { return rint(value); }

// Ranges of a box as the program stores them: its area as a fraction of the canvas, the logarithm of its aspect ratio
// (width / height), and the aspect ratio. Packed by cuaug/transforms/ranges.py.
struct BoxRange {
    double scale[2], log_ratio[2], ratio[2];
};

struct BoxSize {
    int width, height;
};

inline BoxSize draw_box_size(Random& random, double canvas_area, const BoxRange& range) {
    const double side = sqrt(canvas_area * random.uniform(range.scale[0], range.scale[1]));
    const double root = exp(0.5 * random.uniform(range.log_ratio[0], range.log_ratio[1]));
    return {static_cast<int>(round_half_even(side * root)), static_cast<int>(round_half_even(side / root))};
}

inline DrawnBox draw_box_position(Random& random, int height, int width, const BoxSize& size) {
    const int top = random.randint(height - size.height + 1), left = random.randint(width - size.width + 1);
    return {static_cast<double>(top), static_cast<double>(left), static_cast<double>(size.height),
            static_cast<double>(size.width)};
}

// Draws up to ten sizes and places a box of the first one whose sides are at least `min_side` and at most the canvas
// less `margin`; false if none fits. Sizes are drawn in pairs, so that their latencies overlap.
inline bool try_box(Random& random, int height, int width, const BoxRange& range, int min_side, int margin,
                    DrawnBox& box) {
    const double area = static_cast<double>(height) * width;
    auto fits = [&](const BoxSize& size) {
        return size.width >= min_side && size.width <= width - margin && size.height >= min_side &&
               size.height <= height - margin;
    };
    for (int attempt = 0; attempt < 10; attempt += 2) {
        const BoxSize first = draw_box_size(random, area, range), second = draw_box_size(random, area, range);
        const bool first_fits = fits(first);
        // A size takes two words. If `first` fits, the words of `second` are returned, so that the position is the same
        // as if sizes were drawn one at a time. Otherwise all four words are used, and the next four are drawn.
        if (first_fits)
            random.return_words(2);
        else
            random.refill();
        if (!first_fits && !fits(second)) continue;
        box = draw_box_position(random, height, width, first_fits ? first : second);
        return true;
    }
    return false;
}

// The largest centered box whose aspect ratio is in range, of at least one pixel.
__attribute__((noinline)) inline DrawnBox central_box(int height, int width, const BoxRange& range) {
    auto side = [](double length) { return length < 1.0 ? 1 : static_cast<int>(round_half_even(length)); };
    const double ratio = static_cast<double>(width) / height;
    const int w = ratio > range.ratio[1] ? side(height * range.ratio[1]) : width;
    const int h = ratio < range.ratio[0] ? side(width / range.ratio[0]) : height;
    return {static_cast<double>((height - h) / 2), static_cast<double>((width - w) / 2), static_cast<double>(h),
            static_cast<double>(w)};
}

// The box of torchvision's RandomResizedCrop, or with `erasing` of its RandomErasing: smaller than the canvas, and
// empty after ten failures.
inline DrawnBox draw_box(Random& random, int height, int width, const BoxRange& range, bool erasing) {
    DrawnBox box = {0.0, 0.0, 0.0, 0.0};
    if (try_box(random, height, width, range, erasing ? 0 : 1, erasing ? 1 : 0, box) || erasing) return box;
    return central_box(height, width, range);
}

// CutMix (Yun et al. 2019): a box with the fraction 1 - `lam` of the canvas' area around a uniform center, clipped to
// the canvas.
inline DrawnBox cutmix_box(Random& random, int height, int width, double lam) {
    const double half_side = 0.5 * sqrt(1.0 - lam);  // of a unit canvas
    const int half_width = static_cast<int>(half_side * width), half_height = static_cast<int>(half_side * height);
    const int x = random.randint(width), y = random.randint(height);
    const int left = x > half_width ? x - half_width : 0, top = y > half_height ? y - half_height : 0;
    const int right = x + half_width < width ? x + half_width : width,
              bottom = y + half_height < height ? y + half_height : height;
    return {static_cast<double>(top), static_cast<double>(left), static_cast<double>(bottom - top),
            static_cast<double>(right - left)};
}

}  // namespace cuaug
