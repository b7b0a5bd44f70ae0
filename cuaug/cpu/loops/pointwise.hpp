#pragma once

#include "batch_record.hpp"
#include "chain.hpp"
#include "chain_map.hpp"
#include "segment_tasks.hpp"

namespace cuaug {

// The row of a channel from column x on.
template <class T>
inline T* channel_row(const ChannelGroup& group, int k, int y, int x) {
    return reinterpret_cast<T*>(group.data) + group.offset[k] + y * group.y_stride + x * group.x_stride;
}

// Lets ops write a segment to the result itself, if it has rows of the compute type. Returns whether they do.
template <class T, class R>
inline bool write_result_rows(const ChannelGroup& out, int y, int x, ChainWorkspace<R>& workspace) {
    if constexpr (is_same_v<T, R>) {
        if (out.x_stride != 1 || workspace.nontemporal) return false;
        for (int k = 0; k < out.channels; ++k) workspace.rows.out[k] = channel_row<T>(out, k, y, x);
        return true;
    }
    return false;
}

// Lets ops read a segment from the image itself, if it has rows of the compute type; else loads it.
template <class T, class R>
inline void read_rows(const ChannelGroup& in, int y, int x, int count, ChainWorkspace<R>& workspace) {
    const R factor = R(1) / R(max_value<T>);
    if (in.packed && in.channels > 1) return load_channels<T>(in, y, x, count, factor, workspace);
    SegmentRows<R>& rows = workspace.rows;
    for (int k = 0; k < in.channels; ++k) {
        const T* row = channel_row<T>(in, k, y, x);
        rows.in[k] = rows.out[k];
        if constexpr (is_same_v<T, R>)
            if (in.x_stride == 1) {
                rows.in[k] = row;
                continue;
            }
        load_row(row, in.x_stride, count, factor, rows.out[k]);
    }
}

// Applies the chain to one segment, four channels at a time, and stores it.
template <class R>
inline void pointwise_segment(const native::PointwiseCall& call, const PointwiseRecord& args, long long n, long long t,
                              int y, int x, int count, ChainWorkspace<R>& workspace) {
    const SegmentRows<R>& rows = workspace.rows;
    for (int c = 0; c < args.channels; c += 4) {
        const bool keeps_channels = call.out_channels == args.channels;
        const int channels = args.channels - c < 4 ? args.channels - c : 4,
                  all_out_channels = keeps_channels ? args.channels : call.out_channels;
        const int channel_group_index = static_cast<int>(t) * ((args.channels + 3) / 4) + c / 4;
        PixelContext<R> context = {x, y, args.in_width, args.in_height, R(1), R(1), channel_group_index};
        bool writes_result = false;
        workspace.use_workspace_rows();
        dispatch_image_dtype(call.out_dtype, [&](auto element) {
            using T = decltype(element);
            context.out_max_value = R(max_value<T>);
            writes_result =
                write_result_rows<T>(channel_group<T>(args.out, n, t, c, all_out_channels), y, x, workspace);
        });
        dispatch_image_dtype(call.in_dtype, [&](auto element) {
            using T = decltype(element);
            if constexpr (is_same_v<ComputeType<T>, R>) {
                context.max_value = R(max_value<T>);
                read_rows<T>(channel_group<T>(args.in, n, t, c, args.channels), y, x, count, workspace);
            }
        });
        dispatch_channels(channels, [&](auto K) {
            prepare_chain<R, decltype(K)::value>(call, args, n, c, context.max_value, workspace);
            apply_chain<R, decltype(K)::value>(call, context, count, workspace);
        });
        if (rows.in[0] != rows.out[0])  // no op was active
            for (int k = 0; k < channels; ++k) memcpy(rows.out[k], rows.in[k], sizeof(R) * count);
        // A grayscale image may become an image of several equal channels.
        for (int k = channels; k < (keeps_channels ? channels : all_out_channels); ++k)
            memcpy(rows.out[k], rows.out[0], sizeof(R) * count);
        if (writes_result) continue;
        dispatch_image_dtype(call.out_dtype, [&](auto element) {
            using T = decltype(element);
            store_channels<T>(channel_group<T>(args.out, n, t, c, all_out_channels), y, x, count, R(max_value<T>),
                              workspace, workspace.nontemporal);
        });
    }
}

// Converts rows of adjacent pixels of a channel to the compute type, scaled to 0..1. The result has that dtype and
// range. Converting them by segments takes 1.2 to 2.2 times as long, most for rows of 32 pixels.
template <class R>
inline void convert_rows(const native::PointwiseCall& call, const PointwiseRecord& args, const TaskRows& rows) {
    dispatch_image_dtype(call.in_dtype, [&](auto element) {
        using T = decltype(element);
        if constexpr (is_same_v<ComputeType<T>, R>)
            for (int c = 0; c < args.channels; ++c) {
                const T* in = static_cast<const T*>(args.in.data) + rows.n * args.in.n_stride +
                              rows.t * args.in.t_stride + c * args.in.c_stride;
                R* out = static_cast<R*>(args.out.data) + rows.n * args.out.n_stride + rows.t * args.out.t_stride +
                         c * args.out.c_stride;
                for (int y = rows.top; y < rows.bottom; ++y)
                    load_row(in + y * args.in.y_stride, 1, args.in_width, R(1) / R(max_value<T>),
                             out + y * args.out.y_stride);
            }
    });
}

// If the call maps levels, a task has at least `min_levels_per_task` of them, except the last of a frame.
inline int rows_per_pointwise_task(const native::PointwiseCall& call, const PointwiseRecord& args) {
    const int rows = rows_per_segment_task(args);
    if (!maps_levels(call, args)) return rows;
    return rows < rows_per_map_task(args) ? rows_per_map_task(args) : rows;
}

template <class R>
inline void pointwise_typed(native::PointwiseCall call, long long task, void* memory) {
    auto args = read_record<PointwiseRecord>(call.record);
    ChainWorkspace<R>& workspace = *static_cast<ChainWorkspace<R>*>(memory);
    if constexpr (is_same_v<R, float>)
        if (maps_levels(call, args)) {
            workspace.begin(false);
            const TaskRows rows = task_rows(args, args.in_height, rows_per_pointwise_task(call, args), task);
            return map_rows(call, args, rows, workspace);
        }
    treat_channels_as_pixels(call, args);
    const double bytes =
        1.0 * args.samples * args.frames * args.in_height * args.in_width * call.out_channels * sizeof(R);
    workspace.begin(call.is_last && bytes >= nontemporal_bytes);
    if (only_rescales(call) && call.out_dtype == dtype_of<R> && call.out_channels == args.channels &&
        args.in.x_stride == 1 && args.out.x_stride == 1 && !workspace.nontemporal)
        return convert_rows<R>(call, args, segment_task_rows(args, task));
    for_each_segment(args, task, [&](long long n, long long t, int y, int x, int count) {
        pointwise_segment(call, args, n, t, y, x, count, workspace);
    });
    workspace.pending_store.store_part(1);
    if (workspace.nontemporal) store_fence();
}

void pointwise_task(const native::PointwiseCall& call, long long task, void* memory) {
    if (call.in_dtype == dtype_of<float64>)
        pointwise_typed<double>(call, task, memory);
    else
        pointwise_typed<float>(call, task, memory);
}

long long pointwise_task_count(const native::PointwiseCall& call) {
    const auto args = read_record<PointwiseRecord>(call.record);
    return task_count(args, rows_per_pointwise_task(call, args));
}

}  // namespace cuaug
