#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

// Chooses the region of an image to decode, and the scale, for a box that is resized afterwards.

namespace jpeg {

struct Box {
    double top, left, height, width;
};

struct Size {
    std::int64_t height, width;
};

struct DecodeRegion {
    std::int64_t scale;                     // the image is decoded at 1 / scale of its resolution
    std::int64_t top, left, height, width;  // in pixels of the scaled image
};

// A box along one axis of the scaled image.
struct AxisSpan {
    double first, count;   // the pixels that the box touches
    double start, length;  // the box, counted from pixel `first`

    AxisSpan(double box_start, double box_length, std::int64_t side, std::int64_t scale) {
        const double scaled_side = static_cast<double>((side + scale - 1) / scale), box_first = box_start / scale;
        first = std::min(std::max(std::floor(box_first), 0.0), scaled_side - 1);
        const double end = std::min(std::max(std::ceil((box_start + box_length) / scale), first + 1), scaled_side);
        count = end - first;
        start = box_first - first;
        length = box_length / scale;
        // A rounding error may put the box's end past the pixels, and a filter would then read a pixel there. The
        // number of steps is limited for boxes outside the image.
        for (int i = 0; i < 4 && start + length > count; ++i)
            length = std::min(std::nextafter(length, 0.0), count - start);
    }
};

// Chooses the lowest resolution at which the box has at least `min_size` pixels; full resolution if there is none, or
// if the image is not `scalable`. Writes the region to decode and the box within the region.
inline void choose_decode_region(const Box& box, const Size& min_size, const Size& image, bool scalable,
                                 DecodeRegion& region, Box& box_in_region) {
    std::int64_t scale = scalable ? 8 : 1;
    while (scale > 1 && (box.height / scale < min_size.height || box.width / scale < min_size.width)) scale /= 2;
    const AxisSpan rows(box.top, box.height, image.height, scale), columns(box.left, box.width, image.width, scale);
    region = {scale, static_cast<std::int64_t>(rows.first), static_cast<std::int64_t>(columns.first),
              static_cast<std::int64_t>(rows.count), static_cast<std::int64_t>(columns.count)};
    box_in_region = {rows.start, columns.start, rows.length, columns.length};
}

}  // namespace jpeg
