#pragma once

#include "ops/blend_sharpness.cuh"
#include "records/pointwise.cuh"
#include "batch_record.hpp"
#include "channel_io.hpp"
#include "segment_tasks.hpp"

namespace cuaug {

// Padded to 512 bytes more than a multiple of 4096, because a load at nearly the same offset in a page as a recent
// store waits for the store. Eight images of 224x224x3 bytes took 576 us (median of 40 processes; mean 584), and 600 us
// without the padding (mean 646).
template <class R>
struct SharpnessRow : SegmentWorkspace<R> {
    alignas(64) char padding[448];
};
static_assert(sizeof(SharpnessRow<float>) % 4096 == 512 && sizeof(SharpnessRow<double>) % 4096 == 512);

// Three consecutive rows of a segment and the image's columns beside it; row y, from -1 on, is in slot (y + 3) % 3.
template <class R>
struct SharpnessWorkspace {
    SharpnessRow<R> row[3];
    R sum_3[3][4][segment_width];  // sums of a pixel and its two neighbours in the row
};
static_assert(sizeof(SharpnessWorkspace<double>) <= native::workspace_bytes);

// sum_3[i] is the sum of a pixel and its two neighbours, for all but the first and the last of `count` pixels.
template <class R>
__attribute__((noinline)) void add_neighbours(const R* __restrict__ values, int count, R* __restrict__ sum_3) {
    for (int i = 1; i < count - 1; ++i) sum_3[i] = values[i - 1] + values[i] + values[i + 1];
}

// Sharpens row y of channel k. Of the `count` pixels, `before` (0 or 1) precede the segment and `after` follow it. The
// result overwrites the row above, which is no longer needed.
template <class R>
__attribute__((noinline)) void sharpen_row(int y, int k, bool is_edge_row, int before, int count, int after, R factor,
                                           R max_value, SharpnessWorkspace<R>& workspace) {
    const R* __restrict__ values = workspace.row[y % 3].channel[k];
    const R* __restrict__ upper_sums = workspace.sum_3[(y + 2) % 3][k];
    const R* __restrict__ row_sums = workspace.sum_3[y % 3][k];
    const R* __restrict__ lower_sums = workspace.sum_3[(y + 1) % 3][k];
    R* __restrict__ out = workspace.row[(y + 2) % 3].channel[k];
    auto sharpen = [&](int i, bool inside) {
        out[i - before] =
            blend_sharpness(inside, values[i], upper_sums[i] + row_sums[i] + lower_sums[i], factor, max_value);
    };
    if (before == 0) sharpen(0, false);
    if (is_edge_row)
        for (int i = 1; i < count - 1; ++i) sharpen(i, false);
    else
        for (int i = 1; i < count - 1; ++i) sharpen(i, true);
    if (after == 0 && count > 1) sharpen(count - 1, false);
}

template <class T>
inline void sharpen_segment(const BatchRecord& args, const ChannelGroup& in, const ChannelGroup& out, int left,
                            int count, int top, int bottom, ComputeType<T> factor,
                            SharpnessWorkspace<ComputeType<T>>& workspace) {
    using R = ComputeType<T>;
    const int before = left > 0 ? 1 : 0, after = left + count < args.in_width ? 1 : 0,
              loaded_count = before + count + after;
    auto load = [&](int y) {
        auto& row = workspace.row[(y + 3) % 3];
        load_channels<T>(in, max(min(y, args.in_height - 1), 0), left - before, loaded_count, R(1), row);
        for (int k = 0; k < in.channels; ++k)
            add_neighbours(row.channel[k], loaded_count, workspace.sum_3[(y + 3) % 3][k]);
    };
    load(top - 1);
    load(top);
    for (int y = top; y < bottom; ++y) {
        load(y + 1);
        const bool is_edge_row = y == 0 || y == args.in_height - 1;
        for (int k = 0; k < in.channels; ++k)
            sharpen_row(y, k, is_edge_row, before, loaded_count, after, factor, R(max_value<T>), workspace);
        store_channels<T>(out, y, left, count, R(1), workspace.row[(y + 2) % 3]);
    }
}

// The CPU loop that corresponds to kernels/passes/adjust_sharpness.cu.
void adjust_sharpness_task(const native::RecordCall& call, long long task, void* memory) {
    const auto args = read_record<PointwiseRecord>(call.record);
    constexpr int max_count = segment_width - 2;
    const TaskRows rows = segment_task_rows(args, task);
    const double factor = parameter(args, rows.n, 0);
    dispatch_image_dtype(call.in_dtype, [&](auto element) {
        using T = decltype(element);
        if (static_cast<ComputeType<T>>(factor) == 1) return copy_rows<T>(args, rows);
        auto& workspace = *static_cast<SharpnessWorkspace<ComputeType<T>>*>(memory);
        for (int c = 0; c < args.channels; c += 4)
            for (int x = 0; x < args.in_width; x += max_count)
                sharpen_segment<T>(args, channel_group<T>(args.in, rows.n, rows.t, c, args.channels),
                                   channel_group<T>(args.out, rows.n, rows.t, c, args.channels), x,
                                   args.in_width - x < max_count ? args.in_width - x : max_count, rows.top, rows.bottom,
                                   static_cast<ComputeType<T>>(factor), workspace);
    });
}

long long adjust_sharpness_task_count(const native::RecordCall& call) {
    return segment_task_count(read_record<PointwiseRecord>(call.record));
}

}  // namespace cuaug
