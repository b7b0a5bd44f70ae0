#pragma once

#include "records/blend.cuh"
#include "batch_record.hpp"
#include "channel_io.hpp"
#include "segment_tasks.hpp"

namespace cuaug {

template <class R>
struct BlendWorkspace {
    SegmentWorkspace<R> sum, input;
};
static_assert(sizeof(BlendWorkspace<double>) <= native::workspace_bytes);

// Stores the weighted sum of the input and the branches. On a CPU the record has no ops: another loop applies them to
// the result (_passes/mix.py).
template <class T>
inline void blend_segment(const BlendRecord& args, long long n, long long t, int y, int x, int count,
                          BlendWorkspace<ComputeType<T>>& workspace) {
    using R = ComputeType<T>;
    for (int c = 0; c < args.channels; c += 4) {
        const ChannelGroup out = channel_group<T>(args.out, n, t, c, args.channels);
        double remaining_weight = 1.0;
        for (int i = 0; i <= args.branches; ++i) {
            BatchView view = i == 0 ? args.in : args.out;
            // Branches have the strides of the output.
            if (i > 0) view.data = const_cast<void*>(args.branch[i - 1]);
            load_channels<T>(channel_group<T>(view, n, t, c, args.channels), y, x, count, /*factor=*/R(1),
                             workspace.input);
            const R weight = static_cast<R>(take_weight(args, n, i, remaining_weight));
            for (int k = 0; k < out.channels; ++k) {
                R* __restrict__ sum = workspace.sum.channel[k];
                const R* __restrict__ input = workspace.input.channel[k];
                for (int p = 0; p < count; ++p) sum[p] = (i == 0 ? R(0) : sum[p]) + weight * input[p];
            }
        }
        store_channels<T>(out, y, x, count, /*factor=*/R(1), workspace.sum);
    }
}

void blend_task(const native::RecordCall& call, long long task, void* memory) {
    const auto args = read_record<BlendRecord>(call.record);
    dispatch_image_dtype(call.in_dtype, [&](auto element) {
        using T = decltype(element);
        auto& workspace = *static_cast<BlendWorkspace<ComputeType<T>>*>(memory);
        for_each_segment(args, task, [&](long long n, long long t, int y, int x, int count) {
            blend_segment<T>(args, n, t, y, x, count, workspace);
        });
    });
}

long long blend_task_count(const native::RecordCall& call) {
    return segment_task_count(read_record<BlendRecord>(call.record));
}

}  // namespace cuaug
