#pragma once

#include "../kernels/mixes/cutmix.cuh"
#include "../kernels/mixes/mixup.cuh"
#include "pointwise.hpp"

namespace cuaug {

template <class R, int K, class Op>
inline void mix_pixels(const Op& op, const Where<R>& where, int count, R (*__restrict__ own)[piece_width],
                       const R (*__restrict__ other)[piece_width]) {
    for (int i = 0; i < count; ++i) {
        Pixel<R, K> a, b;
        for (int k = 0; k < K; ++k) a.c[k] = own[k][i], b.c[k] = other[k][i];
        Where<R> here = where;
        here.x += i;
        const Pixel<R, K> out = op(a, b, here);
        for (int k = 0; k < K; ++k) own[k][i] = out.c[k];
    }
}

template <class R>
struct MixMemory {
    PointwiseMemory<R> own, other;
};
static_assert(sizeof(MixMemory<double>) <= native::workspace_bytes);

template <class T, template <class, int> class Mix>
inline void mix_piece(const Pointwise& args, long long n, long long t, int y, int x, int count,
                      MixMemory<Real<T>>& memory) {
    using R = Real<T>;
    const Where<R> where = {x, y, args.in_width, args.in_height, R(white<T>), R(white<T>)};
    for (int c = 0; c < args.channels; c += 4) {
        load_channels<T>(plane<T>(args.in, n, t, c, args.channels), y, x, count, R(1), memory.own);
        load_channels<T>(plane<T>(args.in, partner_of(args, n), t, c, args.channels), y, x, count, R(1), memory.other);
        with_channels(args.channels - c, [&](auto channels) {
            constexpr int K = decltype(channels)::value;
            const auto op =
                op_of<Mix<R, K>, R, K>([&](int i) { return parameter(args, n, i); }, 1, c, args.channels, R(white<T>));
            mix_pixels<R, K>(op, where, count, memory.own.channel, memory.other.channel);
        });
        store_channels<T>(plane<T>(args.out, n, t, c, args.channels), y, x, count, R(1), memory.own);
    }
}

// Tasks are those of pointwise.
inline void mix_task(const native::MixCall& call, long long task, void* workspace) {
    const Pointwise args = pointwise_record(call.record);
    with_source(call.dtype, [&](auto element) {
        using T = decltype(element);
        auto& memory = *static_cast<MixMemory<Real<T>>*>(workspace);
        each_piece(args, task, [&](long long n, long long t, int y, int x, int count) {
            if (call.mix == native::Mix::Mixup)
                mix_piece<T, Mixup>(args, n, t, y, x, count, memory);
            else
                mix_piece<T, Cutmix>(args, n, t, y, x, count, memory);
        });
    });
}

inline long long mix_tasks(const native::MixCall& call) { return pointwise_tasks(pointwise_record(call.record)); }

}  // namespace cuaug
