#pragma once

#include "ops/blend_sharpness.cuh"
#include "pointwise.hpp"

namespace cuaug {

// Three rows one below the other of a piece and of the columns beside it; `three` are the sums of neighbours in a row.
template <class R>
struct SharpnessWorkspace {
    PointwiseWorkspace<R> row[3];
    R three[3][4][segment_width];
};
static_assert(sizeof(SharpnessWorkspace<double>) <= native::workspace_bytes);

template <class T>
inline void sharpen_segment(const Batch& args, const ChannelGroup& in, const ChannelGroup& out, int left, int count,
                            int top, int bottom, ComputeType<T> factor, SharpnessWorkspace<ComputeType<T>>& workspace) {
    using R = ComputeType<T>;
    const int before = left > 0 ? 1 : 0, after = left + count < args.in_width ? 1 : 0, all = before + count + after;
    auto load = [&](int y) {
        auto& row = workspace.row[(y + 3) % 3];
        const int inside = y < 0 ? 0 : y >= args.in_height ? args.in_height - 1 : y;
        load_channels<T>(in, inside, left - before, all, R(1), row);
        for (int k = 0; k < in.channels; ++k) {
            const R* __restrict__ from = row.channel[k];
            R* __restrict__ three = workspace.three[(y + 3) % 3][k];
            for (int i = 1; i < all - 1; ++i) three[i] = from[i - 1] + from[i] + from[i + 1];
        }
    };
    load(top - 1);
    load(top);
    for (int y = top; y < bottom; ++y) {
        load(y + 1);
        const bool inner = y > 0 && y < args.in_height - 1;
        PointwiseWorkspace<R>& above = workspace.row[(y + 2) % 3];  // has served, and takes the result
        for (int k = 0; k < in.channels; ++k) {
            const R *__restrict__ own = workspace.row[y % 3].channel[k], *__restrict__ a = workspace.three[(y + 2) % 3][k], *__restrict__ b = workspace.three[y % 3][k],
                    *__restrict__ c = workspace.three[(y + 1) % 3][k];
            R* __restrict__ to = above.channel[k];
            auto make = [&](int i, bool inside) {
                to[i - before] = sharpened(inside, own[i], a[i] + b[i] + c[i], factor, R(max_value<T>));
            };
            if (before == 0) make(0, false);
            if (inner)
                for (int i = 1; i < all - 1; ++i) make(i, true);
            else
                for (int i = 1; i < all - 1; ++i) make(i, false);
            if (after == 0 && all > 1) make(all - 1, false);
        }
        store_channels<T>(out, y, left, count, R(1), above);
    }
}

// As kernels/passes/adjust_sharpness.cu. Tasks are those of pointwise.
inline void adjust_sharpness_task(const native::ImageCall& call, long long task, void* memory) {
    const Pointwise args = pointwise_record(call.record);
    constexpr int step = segment_width - 2;
    const TaskRows rows = task_rows(args, task);
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

inline long long adjust_sharpness_tasks(const native::ImageCall& call) {
    return pointwise_tasks(pointwise_record(call.record));
}

}  // namespace cuaug
