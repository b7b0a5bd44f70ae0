#pragma once

#include "ops/blend_sharpness.cuh"
#include "records/pointwise.cuh"
#include "channel_io.hpp"
#include "segment_tasks.hpp"

namespace cuaug {

// Padded to 512 bytes more than a multiple of 4096: rows at nearly the same offset in a page make loads wait for stores
// to other rows. Without it, eight images of 224x224x3 bytes take 610 us in most processes and 870 us in others.
template <class R>
struct SharpnessRow : SegmentWorkspace<R> {
    alignas(64) char padding[448];
};
static_assert(sizeof(SharpnessRow<float>) % 4096 == 512 && sizeof(SharpnessRow<double>) % 4096 == 512);

// Three consecutive rows of a segment and of the columns beside it; row y is in slot (y + 3) % 3.
template <class R>
struct SharpnessWorkspace {
    SharpnessRow<R> row[3];
    R sum_3[3][4][segment_width];  // of a pixel and its neighbours in the row
};
static_assert(sizeof(SharpnessWorkspace<double>) <= native::workspace_bytes);

template <class T>
inline void sharpen_segment(const BatchRecord& args, const ChannelGroup& in, const ChannelGroup& out, int left,
                            int count, int top, int bottom, ComputeType<T> factor,
                            SharpnessWorkspace<ComputeType<T>>& workspace) {
    using R = ComputeType<T>;
    const int before = left > 0 ? 1 : 0, after = left + count < args.in_width ? 1 : 0, all = before + count + after;
    auto load = [&](int y) {
        auto& row = workspace.row[(y + 3) % 3];
        const int row_in_image = y < 0 ? 0 : y >= args.in_height ? args.in_height - 1 : y;
        load_channels<T>(in, row_in_image, left - before, all, R(1), row);
        for (int k = 0; k < in.channels; ++k) {
            const R* __restrict__ value = row.channel[k];
            R* __restrict__ sum_3 = workspace.sum_3[(y + 3) % 3][k];
            for (int i = 1; i < all - 1; ++i) sum_3[i] = value[i - 1] + value[i] + value[i + 1];
        }
    };
    load(top - 1);
    load(top);
    for (int y = top; y < bottom; ++y) {
        load(y + 1);
        const bool inside_rows = y > 0 && y < args.in_height - 1;
        SegmentWorkspace<R>& above =
            workspace.row[(y + 2) % 3];  // its pixels are no longer needed: the result goes there
        for (int k = 0; k < in.channels; ++k) {
            const R* __restrict__ value = workspace.row[y % 3].channel[k];
            const R* __restrict__ a = workspace.sum_3[(y + 2) % 3][k];
            const R* __restrict__ b = workspace.sum_3[y % 3][k];
            const R* __restrict__ c = workspace.sum_3[(y + 1) % 3][k];
            R* __restrict__ out_row = above.channel[k];
            auto sharpen = [&](int i, bool inside) {
                out_row[i - before] = blend_sharpness(inside, value[i], a[i] + b[i] + c[i], factor, R(max_value<T>));
            };
            if (before == 0) sharpen(0, false);
            if (inside_rows)
                for (int i = 1; i < all - 1; ++i) sharpen(i, true);
            else
                for (int i = 1; i < all - 1; ++i) sharpen(i, false);
            if (after == 0 && all > 1) sharpen(all - 1, false);
        }
        store_channels<T>(out, y, left, count, R(1), above);
    }
}

// The loop of kernels/passes/adjust_sharpness.cu.
void adjust_sharpness_task(const native::ImageCall& call, long long task, void* memory) {
    const auto args = read_record<PointwiseRecord>(call.record);
    constexpr int step = segment_width - 2;
    const TaskRows rows = segment_task_rows(args, task);
    const double factor = parameter(args, rows.n, 0);
    dispatch_image_dtype(call.source, [&](auto element) {
        using T = decltype(element);
        if (static_cast<ComputeType<T>>(factor) == 1) return copy_rows<T>(args, rows);
        auto& workspace = *static_cast<SharpnessWorkspace<ComputeType<T>>*>(memory);
        for (int c = 0; c < args.channels; c += 4)
            for (int x = 0; x < args.in_width; x += step)
                sharpen_segment<T>(args, channel_group<T>(args.in, rows.n, rows.t, c, args.channels),
                                   channel_group<T>(args.out, rows.n, rows.t, c, args.channels), x,
                                   args.in_width - x < step ? args.in_width - x : step, rows.top, rows.bottom,
                                   static_cast<ComputeType<T>>(factor), workspace);
    });
}

long long adjust_sharpness_tasks(const native::ImageCall& call) {
    return segment_task_count(read_record<PointwiseRecord>(call.record));
}

}  // namespace cuaug
