#pragma once

#include "copy_pixels.hpp"
#include "row_segment.hpp"
#include "task_rows.hpp"

// How loops over pixels are divided into tasks. A task is some rows of a frame; each row is processed in segments of up
// to segment_width pixels (row_segment.hpp).

namespace cuaug {

// A frame is one task if there are many frames; otherwise a call has about wanted_tasks tasks, so that one image alone
// has enough for the threads of any machine.
inline int rows_per_segment_task(const BatchRecord& args) {
    const long long wanted_tasks = 256, frames = args.samples * args.frames,
                    tasks_per_frame = frames >= wanted_tasks || frames == 0 ? 1 : wanted_tasks / frames;
    return static_cast<int>((args.in_height + tasks_per_frame - 1) / tasks_per_frame);
}

inline long long task_count(const BatchRecord& args, int rows_per_task) {
    const long long frames = args.samples * args.frames;
    if (frames == 0 || args.channels == 0 || args.in_width == 0 || args.in_height == 0) return 0;
    return frames * ((args.in_height + rows_per_task - 1) / rows_per_task);
}

inline long long segment_task_count(const BatchRecord& args) { return task_count(args, rows_per_segment_task(args)); }

inline TaskRows segment_task_rows(const BatchRecord& args, long long task) {
    return task_rows(args, args.in_height, rows_per_segment_task(args), task);
}

// Calls `visit(n, t, y, x, count)` for each segment of a task's rows.
template <class Visitor>
inline void for_each_segment(const BatchRecord& args, long long task, const Visitor& visit) {
    const TaskRows rows = segment_task_rows(args, task);
    for (int y = rows.top; y < rows.bottom; ++y)
        for (int x = 0; x < args.in_width; x += segment_width)
            visit(rows.n, rows.t, y, x, args.in_width - x < segment_width ? args.in_width - x : segment_width);
}

// Copies rows top .. bottom - 1 of elements of `Bytes` bytes. Not inlined, so that dtypes of one size share the code.
template <int Bytes>
__attribute__((noinline)) void copy_rows(const ChannelGroup& in, const ChannelGroup& out, int width, int top,
                                         int bottom) {
    const bool packed = in.packed && out.packed;
    const long long in_step = Bytes * (packed ? 1 : in.x_stride), out_step = Bytes * (packed ? 1 : out.x_stride);
    const int count = packed ? width * in.channels : width;
    for (int y = top; y < bottom; ++y)
        for (int k = 0; k < (packed ? 1 : in.channels); ++k)
            copy_run<Bytes>(in.data + Bytes * (y * in.y_stride + in.offset[k]), in_step, count,
                            out.data + Bytes * (y * out.y_stride + out.offset[k]), out_step);
}

// Copies a task's rows, for a sample that an op leaves unchanged.
template <class T>
inline void copy_rows(const BatchRecord& args, const TaskRows& rows) {
    for (int c = 0; c < args.channels; c += 4)
        copy_rows<sizeof(T)>(channel_group<T>(args.in, rows.n, rows.t, c, args.channels),
                             channel_group<T>(args.out, rows.n, rows.t, c, args.channels), args.in_width, rows.top,
                             rows.bottom);
}

}  // namespace cuaug
