#pragma once

#include "batch_record.hpp"
#include "bilinear_resize.hpp"
#include "resample_row.hpp"
#include "resample_window.hpp"
#include "segment_tasks.hpp"

// A task is a region of one frame: some rows of some columns.

namespace cuaug {

template <class R>
inline void resample_region(const ResampleTask<R>& task, int left, int right) {
    for (int columns; left < right; left += columns) {
        columns = prepare_columns(task, left, right);
        for (int c = 0; c < task.args.channels; c += 4) resample_columns(task, c, left, columns);
    }
}

// A frame is divided into blocks of some columns, and each block into tasks of some rows.
struct BlockTasks {
    int columns_per_block, blocks, rows_per_task;
};

// The number of rows is small, so that one image alone has enough tasks for the threads of most machines, but not too
// small: each task computes the weights of its columns anew, which takes as long as 3 to 11 rows. Eight rows are
// computed at once.
inline BlockTasks block_tasks(const ResampleRecord& args) {
    const int columns = args.antialias != 0 ? max_output_columns : strip_width,  // the strips of resize_bilinear
        blocks = (args.out_width + columns - 1) / columns;
    const long long wanted_tasks = 64, all_blocks = args.samples * args.frames * blocks,
                    wanted_per_block = all_blocks >= wanted_tasks ? 1 : wanted_tasks / all_blocks;
    const int rows = static_cast<int>((args.out_height + wanted_per_block - 1) / wanted_per_block);
    return {columns, blocks, (max(rows, 16) + lanes - 1) / lanes * lanes};
}

long long resample_task_count(const native::ResampleCall& call) {
    const auto args = read_record<ResampleRecord>(call.record);
    const long long frames = args.samples * args.frames;
    if (frames == 0 || args.channels == 0 || args.out_width == 0) return 0;
    const BlockTasks tasks = block_tasks(args);
    return frames * tasks.blocks * ((args.out_height + tasks.rows_per_task - 1) / tasks.rows_per_task);
}

inline TaskRegion task_region(const ResampleRecord& args, long long task) {
    const BlockTasks tasks = block_tasks(args);
    const int left = static_cast<int>(task % tasks.blocks) * tasks.columns_per_block;
    return {task_rows(args, args.out_height, tasks.rows_per_task, task / tasks.blocks), left,
            min(left + tasks.columns_per_block, args.out_width)};
}

// Flips the result: reverses the strides of the output.
inline void flip_output(const native::ResampleCall& call, ResampleRecord& args, long long n) {
    dispatch_image_dtype(call.out_dtype, [&](auto element) {
        auto flip = [&](long long& stride, int extent) {
            args.out.data = static_cast<decltype(element)*>(args.out.data) + (extent - 1) * stride;
            stride = -stride;
        };
        if (flips_vertically(args, n)) flip(args.out.y_stride, args.out_height);
        if (flips_horizontally(args, n)) flip(args.out.x_stride, args.out_width);
    });
}

// Whether the output pixels begin .. end - 1 along an axis are copies of adjacent input pixels: a box of whole pixels
// that keeps its size has one tap per pixel (unnormalized_taps, samplers/filter.cuh), and an invalid box has none.
template <class R>
inline bool copies_axis(const ResampleAxis<R>& axis, int begin, int end) {
    const double first = axis.start + axis.window.first;
    return axis.extent == axis.window.box_size && axis.start == floor(axis.start) && first + begin >= 0.0 &&
           first + end <= axis.in_size && axis.taps(begin).count == 1;
}

// Copies the pixels of a task if its region of the result is a part of the image; returns whether it is.
template <class R>
inline bool copy_region(const native::ResampleCall& call, BatchRecord args, const TaskRegion& region,
                        const ResampleAxis<R>& x_axis, const ResampleAxis<R>& y_axis) {
    if (call.in_dtype != call.out_dtype || !copies_axis(x_axis, region.left, region.right) ||
        !copies_axis(y_axis, region.rows.top, region.rows.bottom))
        return false;
    dispatch_image_dtype(call.in_dtype, [&](auto element) {
        using T = decltype(element);
        const long long x = static_cast<long long>(x_axis.start) + x_axis.window.first + region.left,
                        y = static_cast<long long>(y_axis.start) + y_axis.window.first;
        args.in.data = static_cast<T*>(args.in.data) + x * args.in.x_stride + y * args.in.y_stride;
        args.out.data = static_cast<T*>(args.out.data) + region.left * args.out.x_stride;
        args.in_width = region.right - region.left;
        copy_rows<T>(args, region.rows);
    });
    return true;
}

template <class R>
inline void resample_typed(const native::ResampleCall& call, long long task, void* memory) {
    auto args = read_record<ResampleRecord>(call.record);
    const TaskRegion region = fill_outside_box(call, args, task_region(args, task));
    if (region.rows.top == region.rows.bottom || region.left == region.right) return;
    const long long n = region.rows.n;
    select_ragged_image(args, n);
    const AxisWindow y_window = window_rows(args, n), x_window = window_columns(args, n);
    flip_output(call, args, n);
    const bool antialias = args.antialias != 0;
    const ResampleAxis<R> x_axis = {call.filter, box_entry(args, n, 1), box_entry(args, n, 3), args.in_width, x_window,
                                    antialias};
    const ResampleAxis<R> y_axis = {call.filter, box_entry(args, n, 0), box_entry(args, n, 2), args.in_height, y_window,
                                    antialias};
    if (copy_region(call, args, region, x_axis, y_axis)) return;
    if constexpr (is_same_v<R, float>)
        if (call.filter == filter_of<Triangle> && !antialias && call.in_dtype == dtype_of<uint8> &&
            call.out_dtype == dtype_of<uint8>) {
            auto positions = [](const ResampleAxis<R>& axis) {
                const Taps<R> taps = axis.taps(0);
                // An invalid box has no taps. A `low` of -1 makes resize_bilinear return false, and resample_region
                // handles the box.
                const int low = taps.count > 0 ? taps.low : -1;
                return AxisPositions{axis.start, axis.extent / axis.window.box_size, axis.window.first, low, taps.high};
            };
            if (resize_bilinear(args, region.rows, region.left, region.right, positions(x_axis), positions(y_axis),
                                *static_cast<SeparableWorkspace*>(memory)))
                return;
        }
    resample_region(ResampleTask<R>{call, args, n, region.rows.t, region.rows.top, region.rows.bottom, x_axis, y_axis,
                                    *static_cast<ResampleWorkspace<R>*>(memory)},
                    region.left, region.right);
}

void resample_task(const native::ResampleCall& call, long long task, void* memory) {
    if (call.in_dtype == dtype_of<float64>)
        resample_typed<double>(call, task, memory);
    else
        resample_typed<float>(call, task, memory);
}

}  // namespace cuaug
