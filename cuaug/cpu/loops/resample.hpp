#pragma once

#include "batch_record.hpp"
#include "bilinear_resize.hpp"
#include "resample_row.hpp"
#include "task_rows.hpp"

// A task is some rows of one frame.

namespace cuaug {

template <class R>
inline void resample_task_rows(const ResampleTask<R>& task) {
    for (int left = 0, columns; left < task.args.out_width; left += columns) {
        columns = prepare_columns(task, left);
        for (int c = 0; c < task.args.channels; c += 4) resample_columns(task, c, left, columns);
    }
}

// The number of rows is small, so that one image alone has enough tasks for the threads of most machines, but not too
// small: each task computes the weights of the columns anew, which takes as long as 14 rows.
inline int rows_per_resample_task(const ResampleRecord& args) {
    const long long wanted_tasks = 64, frames = args.samples * args.frames,
                    tasks_per_frame = frames >= wanted_tasks ? 1 : wanted_tasks / frames;
    const long long rows = (args.out_height + tasks_per_frame - 1) / tasks_per_frame;
    return static_cast<int>(rows < 16 ? 16 : rows);
}

long long resample_task_count(const native::ResampleCall& call) {
    const auto args = read_record<ResampleRecord>(call.record);
    const long long frames = args.samples * args.frames;
    if (frames == 0 || args.channels == 0 || args.out_width == 0) return 0;
    return frames * ((args.out_height + rows_per_resample_task(args) - 1) / rows_per_resample_task(args));
}

// Flips the result: reverses the strides of the output.
inline void flip_output(const native::ResampleCall& call, ResampleRecord& args, long long n) {
    dispatch_image_dtype(call.target, [&](auto element) {
        auto flip = [&](long long& stride, int extent) {
            args.out.data = static_cast<decltype(element)*>(args.out.data) + (extent - 1) * stride;
            stride = -stride;
        };
        if (flips_vertically(args, n)) flip(args.out.y_stride, args.out_height);
        if (flips_horizontally(args, n)) flip(args.out.x_stride, args.out_width);
    });
}

// The window, or the whole result if the table does not hold a window of the resized box: the table may have been
// changed, and the taps of other windows have no bound.
inline AxisWindow window_in_box(const AxisWindow& window, int out_size) {
    const bool is_inside = window.first >= 0 && static_cast<long long>(window.first) + out_size <= window.size;
    return is_inside ? window : AxisWindow{0, out_size};
}

template <class R>
inline void resample_typed(const native::ResampleCall& call, long long task, void* memory) {
    auto args = read_record<ResampleRecord>(call.record);
    const TaskRows rows = task_rows(args, args.out_height, rows_per_resample_task(args), task);
    const long long n = rows.n;
    select_ragged_image(args, n);
    const AxisWindow y_window = window_in_box(window_rows(args, n), args.out_height),
                     x_window = window_in_box(window_columns(args, n), args.out_width);
    flip_output(call, args, n);
    const bool antialias = args.antialias != 0;
    const ResampleAxis<R> x_axis = {call.filter, box_entry(args, n, 1), box_entry(args, n, 3), args.in_width, x_window,
                                    antialias};
    const ResampleAxis<R> y_axis = {call.filter, box_entry(args, n, 0), box_entry(args, n, 2), args.in_height, y_window,
                                    antialias};
    if constexpr (is_same_v<R, float>)
        if (call.filter == filter_of<Triangle> && !antialias && call.source == dtype_of<uint8> &&
            call.target == dtype_of<uint8>) {
            auto positions = [](const ResampleAxis<R>& axis) {
                const Taps<R> taps = axis.taps(0);
                // An invalid box has no taps: for a box that begins at -1 resize_bilinear returns false.
                const int low = taps.count > 0 ? taps.low : -1;
                return AxisPositions{axis.start, axis.extent / axis.window.size, axis.window.first, low, taps.high};
            };
            if (resize_bilinear(args, n, rows.t, rows.top, rows.bottom, positions(x_axis), positions(y_axis),
                                *static_cast<SeparableWorkspace*>(memory)))
                return;
        }
    resample_task_rows(ResampleTask<R>{call, args, n, rows.t, rows.top, rows.bottom, x_axis, y_axis,
                                       *static_cast<ResampleWorkspace<R>*>(memory)});
}

void resample_task(const native::ResampleCall& call, long long task, void* memory) {
    if (call.source == dtype_of<float64>)
        resample_typed<double>(call, task, memory);
    else
        resample_typed<float>(call, task, memory);
}

}  // namespace cuaug
