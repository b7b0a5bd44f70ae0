#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

// What to decode of an image of which a box is wanted.

namespace native {

struct Box {
    double top, left, height, width;
};

struct Size {
    std::int64_t height, width;
};

struct Region {
    std::int64_t scale, top, left, height, width;  // one over; then pixels of the scaled image
};

// Along one axis: the pixels that an interval touches, and where it lies in them.
struct Span {
    double first, count, start, extent;

    Span(double corner, double length, std::int64_t side, std::int64_t scale) {
        const double scaled = static_cast<double>((side + scale - 1) / scale), from = corner / scale;
        first = std::min(std::max(std::floor(from), 0.0), scaled - 1);
        const double end = std::min(std::max(std::ceil((corner + length) / scale), first + 1), scaled);
        count = end - first;
        start = from - first;
        extent = length / scale;
        // By a rounding error it may end beyond them, and filters would look at a pixel there.
        for (int i = 0; i < 4 && start + extent > count; ++i)
            extent = std::min(std::nextafter(extent, 0.0), count - start);
    }
};

// At the lowest resolution, if it may be lower, that has as many pixels in the box as are wanted.
inline void cover(const Box& box, const Size& wanted, const Size& image, bool scalable, Region& region, Box& within) {
    std::int64_t scale = scalable ? 8 : 1;
    while (scale > 1 && (box.height / scale < wanted.height || box.width / scale < wanted.width)) scale /= 2;
    const Span down(box.top, box.height, image.height, scale), across(box.left, box.width, image.width, scale);
    region = {scale, static_cast<std::int64_t>(down.first), static_cast<std::int64_t>(across.first),
              static_cast<std::int64_t>(down.count), static_cast<std::int64_t>(across.count)};
    within = {down.start, across.start, down.extent, across.extent};
}

}  // namespace native
