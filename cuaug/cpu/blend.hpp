#pragma once

#include "../kernels/blend_record.cuh"
#include "pointwise.hpp"

namespace cuaug {

template <class R>
struct BlendMemory {
    PointwiseMemory<R> sum, each;
};
static_assert(sizeof(BlendMemory<double>) <= native::workspace_bytes);

template <class T>
inline void blend_piece(const Blend& args, long long n, long long t, int y, int x, int count,
                        BlendMemory<Real<T>>& memory) {
    using R = Real<T>;
    for (int c = 0; c < args.channels; c += 4) {
        const Plane out = plane<T>(args.out, n, t, c, args.channels);
        double left = 1.0;
        for (int i = 0; i <= args.branches; ++i) {
            View view = i == 0 ? args.in : args.out;
            if (i > 0) view.data = const_cast<void*>(args.branch[i - 1]);
            load_channels<T>(plane<T>(view, n, t, c, args.channels), y, x, count, R(1), memory.each);
            const R share = static_cast<R>(take(args, n, i, left));
            for (int k = 0; k < out.channels; ++k) {
                R* __restrict__ sum = memory.sum.channel[k];
                const R* __restrict__ each = memory.each.channel[k];
                for (int p = 0; p < count; ++p) sum[p] = (i == 0 ? R(0) : sum[p]) + share * each[p];
            }
        }
        store_channels<T>(out, y, x, count, R(1), memory.sum);
    }
}

inline Blend blend_record(const native::ImageCall& call) {
    Blend args;
    memcpy(&args, call.record, sizeof(args));
    return args;
}

// Tasks are those of pointwise.
inline void blend_task(const native::ImageCall& call, long long task, void* workspace) {
    const Blend args = blend_record(call);
    with_source(call.source, [&](auto element) {
        using T = decltype(element);
        auto& memory = *static_cast<BlendMemory<Real<T>>*>(workspace);
        each_piece(args, task, [&](long long n, long long t, int y, int x, int count) {
            blend_piece<T>(args, n, t, y, x, count, memory);
        });
    });
}

inline long long blend_tasks(const native::ImageCall& call) { return pointwise_tasks(blend_record(call)); }

}  // namespace cuaug
