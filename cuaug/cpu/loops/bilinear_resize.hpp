#pragma once

#include "records/resample.cuh"
#include "batch_record.hpp"
#include "bilinear_separable.hpp"
#include "task_rows.hpp"

// Bilinear resize without antialiasing: a bilinear warp of the box that is resized (ResampleRecord::box), with the
// border Edge at the edges of the box.

namespace cuaug {

// The positions of output pixels along one axis of the input, clamped to [low, high - 1].
struct AxisPositions {
    double start, scale;  // where the box begins in the input; input pixels per pixel of the resized box
    int first;            // the pixel of the resized box at which the window begins
    int low, high;

    double at(int i) const {
        const double position = start + (first + i + 0.5) * scale - 0.5;
        return fmin(fmax(position, static_cast<double>(low)), static_cast<double>(high - 1));
    }
};

// Computes the rows of a uint8 frame in columns left .. right - 1. Returns false if the general loop of
// resample_row.hpp is needed: the box leaves the image, a position is beyond 2^20, or the source columns of a row span
// too many pixels. Not for other dtypes: a tap of weight 0 beyond the box could be a NaN.
inline bool resize_bilinear(const ResampleRecord& record, const TaskRows& task, int left, int right,
                            const AxisPositions& columns, const AxisPositions& rows, SeparableWorkspace& workspace) {
    const BatchWithFill& args = record;
    if (!(columns.low >= 0 && columns.high <= args.in_width && rows.low >= 0 && rows.high <= args.in_height))
        return false;
    for (int y = task.top; y < task.bottom; y += tile_height)
        for (int x = left; x < right; x += strip_width) {
            const int width = min(strip_width, right - x), height = min(tile_height, task.bottom - y);
            if (!split_coordinates([&](int i) { return columns.at(x + i); }, width, workspace.left_column,
                                   workspace.right_weight) ||
                !split_coordinates([&](int i) { return rows.at(y + i); }, height, workspace.upper_row,
                                   workspace.lower_weight) ||
                !interpolate_strip(args, border_of<Edge>, task.n, task.t, x, width, y, height, workspace))
                return false;
        }
    return true;
}

}  // namespace cuaug
