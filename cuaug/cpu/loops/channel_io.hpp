#pragma once

#include "deinterleave.hpp"
#include "nontemporal.hpp"
#include "pixel_io.hpp"
#include "row_segment.hpp"

// Loads a segment of a row (row_segment.hpp) into one array per channel, and stores such arrays.

namespace cuaug {

template <class R>
struct SegmentWorkspace {
    R channel[4][segment_width];
    R outgoing[4 * segment_width];  // the pixels that `pending_store` has yet to store
    R scratch[4 * segment_width];
    PendingStore<R> pending_store;
};

// The next three functions depend on the compute type alone. They are not inlined, so that all dtypes share
// one instance.

template <class R>
__attribute__((noinline)) void scale_values(R* values, int count, R factor) {
    if (factor == R(1)) return;
    for (int i = 0; i < count; ++i) values[i] *= factor;
}

template <class R>
__attribute__((noinline)) void deinterleave(const R* __restrict__ in, int channels, int count, R factor,
                                            R (*__restrict__ out)[segment_width]) {
    dispatch_channels(channels, [&](auto channel_count) {
        constexpr int K = decltype(channel_count)::value;
        for (int i = 0; i < count; ++i)
            for (int k = 0; k < K; ++k) out[k][i] = in[K * i + k] * factor;
    });
}

template <class R>
__attribute__((noinline)) void interleave(const R (*__restrict__ in)[segment_width], int channels, int count, R factor,
                                          R* __restrict__ out) {
    dispatch_channels(channels, [&](auto channel_count) {
        constexpr int K = decltype(channel_count)::value;
        for (int i = 0; i < count; ++i)
            for (int k = 0; k < K; ++k) out[K * i + k] = in[k][i] * factor;
    });
}

// Loads columns first .. first + count - 1 of a row, times `factor`, into `workspace.channel`. With an array per
// channel, one SIMD instruction works on the same channel of many pixels. Inlined, because a call would make a chain of
// one op on float32 10 % slower.
template <class T, class R>
inline void load_channels(const ChannelGroup& group, int row, int first, int count, R factor,
                          SegmentWorkspace<R>& workspace) {
    const T* in = reinterpret_cast<const T*>(group.data) + row * group.y_stride + first * group.x_stride;
    if (!group.packed) {
        for (int k = 0; k < group.channels; ++k)
            load_row(in + group.offset[k], group.x_stride, count, factor, workspace.channel[k]);
        return;
    }
    in += group.offset[0];
    if constexpr (is_same_v<T, R>) {
        deinterleave(in, group.channels, count, factor, workspace.channel);
    } else {
        if constexpr (is_same_v<T, uint8>)
            if (group.channels == 3) return deinterleave_rgb8(in, count, factor, workspace.channel);
        load_row(in, 1, count * group.channels, workspace.scratch);
        deinterleave(workspace.scratch, group.channels, count, factor, workspace.channel);
    }
}

// Stores `workspace.channel`, times `factor`. Not inlined: one copy of the code serves several loops. `nontemporal`: if
// T is R and a row's elements are adjacent in memory, the stores bypass the cache; packed pixels are then copied to
// `workspace.outgoing` and stored later, by `workspace.pending_store`.
template <class T, class R>
__attribute__((noinline)) void store_channels(const ChannelGroup& group, int row, int first, int count, R factor,
                                              SegmentWorkspace<R>& workspace, bool nontemporal = false) {
    T* out = reinterpret_cast<T*>(group.data) + row * group.y_stride + first * group.x_stride;
    if (!group.packed) {
        for (int k = 0; k < group.channels; ++k) {
            scale_values(workspace.channel[k], count, factor);
            if constexpr (is_same_v<T, R>)
                if (nontemporal && group.x_stride == 1) {
                    store_nontemporal(workspace.channel[k], count, out + group.offset[k]);
                    continue;
                }
            store_row(workspace.channel[k], count, out + group.offset[k], group.x_stride);
        }
        return;
    }
    out += group.offset[0];
    if constexpr (is_same_v<T, R>) {
        interleave(workspace.channel, group.channels, count, factor, nontemporal ? workspace.outgoing : out);
        if (nontemporal) workspace.pending_store = {workspace.outgoing, out, count * group.channels};
        return;
    }
    if constexpr (is_same_v<T, uint8> && is_same_v<R, float>)
        if (group.channels == 3) return interleave_rgb8(workspace.channel, count, factor, out);
    interleave(workspace.channel, group.channels, count, factor, workspace.scratch);
    store_row(workspace.scratch, count * group.channels, out, 1);
}

}  // namespace cuaug
