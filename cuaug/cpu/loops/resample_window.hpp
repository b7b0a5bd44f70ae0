#pragma once

#include "records/resample.cuh"
#include "copy_pixels.hpp"
#include "task_rows.hpp"

// The result of a resample is a window of the resized box. Pixels of the window outside of the box get the fill.

namespace cuaug {

// The rows of a task, and its columns left .. right - 1.
struct TaskRegion {
    TaskRows rows;
    int left, right;
};

// The fill of four channels from c on, rounded to the dtype of the images.
inline Pixel<double, 4> image_fill(const native::ResampleCall& call, const BatchWithFill& args, long long n, int c) {
    return dispatch_image_dtype(call.in_dtype, [&](auto element) {
        const auto fill = fill_pixel<decltype(element)>(args.fill, n, c, args.channels);
        Pixel<double, 4> out;
        for (int k = 0; k < 4; ++k) out.c[k] = fill.c[k];
        return out;
    });
}

// Writes the fill to a region of the result, whose pixels have the dtype T.
template <class T>
inline void fill_region(const native::ResampleCall& call, const BatchWithFill& args, const TaskRegion& region) {
    constexpr int size = sizeof(T);
    const TaskRows& rows = region.rows;
    const int count = region.right - region.left;
    for (int c = 0; c < args.channels; c += 4) {
        const ChannelGroup out = channel_group<T>(args.out, rows.n, rows.t, c, args.channels);
        const Pixel<double, 4> fill = image_fill(call, args, rows.n, c);
        T pixel[4];
        for (int k = 0; k < 4; ++k) pixel[k] = saturate_cast<T>(static_cast<ComputeType<T>>(fill.c[k]));
        const char* bytes = reinterpret_cast<const char*>(pixel);
        for (int y = rows.top; y < rows.bottom; ++y) {
            char* row = out.data + size * (y * out.y_stride + region.left * out.x_stride);
            if (out.packed)
                dispatch_channels(out.channels, [&](auto K) {
                    constexpr int pixel_size = size * decltype(K)::value;
                    copy_run<pixel_size>(bytes, 0, count, row + size * out.offset[0], pixel_size);
                });
            else
                for (int k = 0; k < out.channels; ++k)
                    copy_run<size>(bytes + size * k, 0, count, row + size * out.offset[k], size * out.x_stride);
        }
    }
}

// Writes the fill to the part of a task's region that lies outside of the resized box, and returns the rest of it.
inline TaskRegion fill_outside_box(const native::ResampleCall& call, const ResampleRecord& args,
                                   const TaskRegion& region) {
    const long long n = region.rows.n;
    const AxisRange rows = range_in_box(window_rows(args, n), region.rows.top, region.rows.bottom),
                    columns = range_in_box(window_columns(args, n), region.left, region.right);
    auto fill = [&](int top, int bottom, int left, int right) {
        if (top >= bottom || left >= right) return;
        TaskRegion filled = {{n, region.rows.t, top, bottom}, left, right};
        if (flips_vertically(args, n))
            filled.rows.top = args.out_height - bottom, filled.rows.bottom = args.out_height - top;
        if (flips_horizontally(args, n)) filled.left = args.out_width - right, filled.right = args.out_width - left;
        dispatch_image_dtype(call.out_dtype, [&](auto element) { fill_region<decltype(element)>(call, args, filled); });
    };
    fill(region.rows.top, rows.begin, region.left, region.right);
    fill(rows.end, region.rows.bottom, region.left, region.right);
    fill(rows.begin, rows.end, region.left, columns.begin);
    fill(rows.begin, rows.end, columns.end, region.right);
    return {{n, region.rows.t, rows.begin, rows.end}, columns.begin, columns.end};
}

}  // namespace cuaug
