#pragma once

#include "resample_axis.hpp"

// Each output row is computed in two steps. First, weighted source rows are added up; they are read in place, because
// adjacent columns have a constant distance in every layout. Second, weighted sums along the row of sums give the
// output pixels: of eight rows at once (simd8.hpp) if the source columns are few and inside the image.

namespace cuaug {

template <class R>
struct ResampleTask {
    native::ResampleCall call;
    ResampleRecord args;
    long long n, t;
    int top, bottom;
    ResampleAxis<R> x_axis, y_axis;
    ResampleWorkspace<R>& workspace;
};

// Prepares output columns from `left` on, below `right`: as many as fit in the workspace, and returns how many. The
// weights of a column with more than max_column_weights are left to add_source_columns.
template <class R>
inline int prepare_columns(const ResampleTask<R>& task, int left, int right) {
    ResampleWorkspace<R>& workspace = task.workspace;
    int columns = 0, weights = 0;
    for (; columns < max_output_columns && left + columns < right; ++columns) {
        const Taps<R> taps = task.x_axis.taps(left + columns);
        const int first = taps.clamped_pixel(0),
                  count = taps.count > 0 ? taps.clamped_pixel(taps.count - 1) + 1 - first : 0;
        if (columns > 0 && weights + count > max_column_weights) break;
        workspace.columns[columns] = {taps, first, count, weights};
        if (count <= max_column_weights)
            compute_weights(task.x_axis, taps, first, first + count, workspace.weight + weights);
        weights += count;
    }
    return columns;
}

// Up to four channels of the input.
template <class R>
struct InputChannels {
    ChannelGroup group;
    Pixel<R, 4> fill;
    int step;  // from pixel to pixel in column_sums, or in interleaved_sums if several channels are planar

    const R* pixel(const R* sums, int column) const { return sums + static_cast<long long>(column) * step; }
};

template <class R>
inline InputChannels<R> input_channels(const ResampleTask<R>& task, int c) {
    InputChannels<R> in = {};
    dispatch_image_dtype(task.call.in_dtype, [&](auto element) {
        using T = decltype(element);
        if constexpr (is_same_v<ComputeType<T>, R>) {
            in.group = channel_group<T>(task.args.in, task.n, task.t, c, task.args.channels);
            in.fill = fill_pixel<T>(task.args.fill, task.n, c, task.args.channels);
        }
    });
    in.step = in.group.packed || in.group.channels == 1 ? in.group.channels : 4;
    return in;
}

template <class R>
inline void sum_source_rows(const ResampleTask<R>& task, const InputChannels<R>& in, const Taps<R>& taps, int first,
                            int count, R* out) {
    dispatch_image_dtype(task.call.in_dtype, [&](auto element) {
        using T = decltype(element);
        if constexpr (is_same_v<ComputeType<T>, R>)
            sum_rows<T>(task.y_axis, taps, in.group, task.args.in_height, first, count, in.fill, out);
    });
}

template <class R>
inline void store_result_row(const ResampleTask<R>& task, int c, int y, int left, int columns, const R* result) {
    dispatch_image_dtype(task.call.out_dtype, [&](auto element) {
        using T = decltype(element);
        const ChannelGroup out = channel_group<T>(task.args.out, task.n, task.t, c, task.args.channels);
        store_pixels<T>(result, columns, out, y, left, task.workspace.scratch);
    });
}

// Adds source columns begin .. end - 1, at most max_source_columns, with their weights to the results of the prepared
// columns of one row.
template <class R>
inline void add_source_columns(const ResampleTask<R>& task, const InputChannels<R>& in, const Taps<R>& y_taps,
                               int begin, int end, int columns) {
    ResampleWorkspace<R>& workspace = task.workspace;
    const int in_width = task.args.in_width, image_begin = max(begin, 0), image_end = min(end, in_width);
    const int count = image_end - image_begin;
    const R* pixels = workspace.column_sums;
    if (count > 0) {
        sum_source_rows(task, in, y_taps, image_begin, count, workspace.column_sums);
        if (in.step == 4 && !in.group.packed) {
            const R* row[4];
            for (int k = 0; k < 4; ++k)
                row[k] = workspace.column_sums + min(k, in.group.channels - 1) * max_source_columns;
            interleave4(row[0], row[1], row[2], row[3], count, workspace.interleaved_sums);
            pixels = workspace.interleaved_sums;
        }
    }
    for (int x = 0; x < columns; ++x) {
        const ColumnTaps<R>& column = workspace.columns[x];
        const int low = max(column.first, begin), high = min(column.first + column.count, end);
        if (low >= high) continue;
        const R* weight = workspace.weight + column.weight_offset + (low - column.first);
        if (column.count > max_column_weights) {
            compute_weights(task.x_axis, column.taps, low, high, workspace.weight);
            weight = workspace.weight;
        }
        const int image_low = max(low, image_begin), image_high = max(min(high, image_end), image_low);
        R* sum = workspace.result + 4 * x;
        if (image_high > image_low)
            add_weighted_pixels(in.pixel(pixels, image_low - image_begin), in.step, weight + (image_low - low),
                                image_high - image_low, sum);
        R outside_weight = R(0);
        for (int i = low; i < min(high, 0); ++i) outside_weight += weight[i - low];
        for (int i = max(low, in_width); i < high; ++i) outside_weight += weight[i - low];
        for (int k = 0; k < 4; ++k) sum[k] += outside_weight * in.fill.c[k];
    }
}

// Computes one output row of the prepared columns. Any part of its source box may lie outside the image.
template <class R>
inline void resample_row(const ResampleTask<R>& task, const InputChannels<R>& in, int c, int y, int left, int columns) {
    ResampleWorkspace<R>& workspace = task.workspace;
    const int begin = workspace.columns[0].first,
              end = workspace.columns[columns - 1].first + workspace.columns[columns - 1].count;
    const Taps<R> y_taps = task.y_axis.taps(y);
    const bool empty = y_taps.count == 0 || end == begin;
    for (int x = 0; x < columns; ++x)
        for (int k = 0; k < 4; ++k) workspace.result[4 * x + k] = empty ? in.fill.c[k] : R(0);
    for (int low = begin; low < end && !empty; low += max_source_columns)
        add_source_columns(task, in, y_taps, low, min(end, low + max_source_columns), columns);
    store_result_row(task, c, y, left, columns, workspace.result);
}

// Stores rows of `workspace.result`, which have the output's layout: the packed channels of a pixel side by side, or
// planar channels `channel_step` apart.
template <class R>
inline void store_result_rows(const ResampleTask<R>& task, int c, int y, int rows, int left, int columns,
                              int channel_step) {
    dispatch_image_dtype(task.call.out_dtype, [&](auto element) {
        using T = decltype(element);
        const ChannelGroup out = channel_group<T>(task.args.out, task.n, task.t, c, task.args.channels);
        for (int r = 0; r < rows; ++r) {
            const R* result = task.workspace.result + r * ResampleWorkspace<R>::result_pitch;
            T* out_row = reinterpret_cast<T*>(out.data) + (y + r) * out.y_stride + left * out.x_stride;
            if (out.packed)
                store_row(result, out.channels * columns, out_row + out.offset[0], 1);
            else
                for (int k = 0; k < out.channels; ++k)
                    store_row(result + k * channel_step, columns, out_row + out.offset[k], out.x_stride);
        }
    });
}

// Computes up to eight output rows from y on. Their source columns lie inside the image and are at most
// max_source_columns. Lanes without a row hold old values, which are not stored.
template <int C, class R>
inline void resample_8_rows(const ResampleTask<R>& task, const InputChannels<R>& in, int c, int y, int rows, int left,
                            int columns) {
    using Workspace = ResampleWorkspace<R>;
    Workspace& workspace = task.workspace;
    const int begin = workspace.columns[0].first,
              width = workspace.columns[columns - 1].first + workspace.columns[columns - 1].count - begin;
    for (int r = 0; r < rows; ++r)
        sum_source_rows(task, in, task.y_axis.taps(y + r), begin, width, workspace.column_sums + r * Workspace::pitch);
    const bool packed = in.group.packed, packed_out = task.args.out.c_stride == 1 && task.args.out.x_stride == C;
    for (int k = 0; k < (packed ? 1 : C); ++k)
        interleave8(workspace.column_sums + k * max_source_columns, Workspace::pitch, packed ? C * width : width,
                    workspace.interleaved_sums + lanes * k * max_source_columns);
    const int step = packed ? C : 1, channel_step = packed ? 1 : max_source_columns;
    const int out_step = packed_out ? C : 1, out_channel_step = packed_out ? 1 : max_output_columns;
    for (int x = 0; x < columns; ++x) {
        const ColumnTaps<R>& column = workspace.columns[x];
        weighted_sum8<C>(workspace.interleaved_sums + static_cast<long long>(lanes) * step * (column.first - begin),
                         step, channel_step, workspace.weight + column.weight_offset, column.count,
                         workspace.interleaved_result + lanes * out_step * x, out_channel_step);
    }
    for (int k = 0; k < (packed_out ? 1 : C); ++k)
        deinterleave8(workspace.interleaved_result + lanes * k * out_channel_step, packed_out ? C * columns : columns,
                      workspace.result + k * out_channel_step, Workspace::result_pitch);
    store_result_rows(task, c, y, rows, left, columns, out_channel_step);
}

// Computes up to four channels from c on, of the prepared columns.
template <class R>
inline void resample_columns(const ResampleTask<R>& task, int c, int left, int columns) {
    const ResampleWorkspace<R>& workspace = task.workspace;
    const InputChannels<R> in = input_channels(task, c);
    const ColumnTaps<R>&first = workspace.columns[0], &last = workspace.columns[columns - 1];
    const int begin = first.first, end = last.first + last.count;
    const bool is_inside = begin >= 0 && end > begin && end <= task.args.in_width &&
                           end - begin <= max_source_columns && task.y_axis.taps(task.top).count > 0;
    for (int y = task.top; y < task.bottom; y += is_inside ? lanes : 1) {
        if (!is_inside) {
            resample_row(task, in, c, y, left, columns);
            continue;
        }
        dispatch_channels(in.group.channels, [&](auto C) {
            resample_8_rows<decltype(C)::value>(task, in, c, y, min(task.bottom - y, lanes), left, columns);
        });
    }
}

}  // namespace cuaug
