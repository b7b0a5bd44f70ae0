#pragma once

#include "records/resample.cuh"
#include "bilinear_separable.hpp"

// Plain bilinear resize, two taps each way, is a bilinear warp of the box with its edge repeated.

namespace cuaug {

// Output positions along one axis in the input, held inside [low, high - 1].
struct AxisPositions {
    double start, scale_values;
    int low, high;

    double at(int i) const {
        const double centre = start + (i + 0.5) * scale_values - 0.5;
        return fmin(fmax(centre, static_cast<double>(low)), static_cast<double>(high - 1));
    }
};

// Bytes of rows `top` to `bottom` of a frame; false if they have to be resized by weights instead: where the box leaves
// the image, and where a row would need too much of it. Of other dtypes, a tap of weight 0 beyond the box could be a
// NaN.
inline bool resize_bilinear(const ResampleRecord& record, long long n, long long t, int top, int bottom,
                            const AxisPositions& across, const AxisPositions& down, SeparableWorkspace& workspace) {
    const WarpCommon args = warp_common(&record);
    if (!(across.low >= 0 && across.high <= args.in_width && down.low >= 0 && down.high <= args.in_height))
        return false;
    auto least = [](int a, int b) { return a < b ? a : b; };
    for (int y = top; y < bottom; y += tile_height)
        for (int x = 0; x < args.out_width; x += strip_width) {
            const int width = least(strip_width, args.out_width - x), height = least(tile_height, bottom - y);
            if (!split_coordinates([&](int i) { return across.at(x + i); }, width, workspace.column, workspace.right) ||
                !split_coordinates([&](int i) { return down.at(y + i); }, height, workspace.row, workspace.below) ||
                !interpolate_strip(args, border_of<Edge>, n, t, x, width, y, height, workspace))
                return false;
        }
    return true;
}

}  // namespace cuaug
