#pragma once

#include "ops/ops.cuh"
#include "records/pointwise.cuh"
#include "channel_io.hpp"

// A chain of ops over a segment: one op after the other, while the segment stays in the cache.

namespace cuaug {

template <class R>
struct ChainWorkspace : SegmentWorkspace<R> {
    R params[native::max_params];  // prepared, of all ops: those of a sample, for four channels from `prepared_channel`
    int prepared_channel;
    bool nontemporal;  // the result bypasses the cache

    void begin(bool bypass_cache) {
        prepared_channel = -1;
        nontemporal = bypass_cache;
        this->pending_store = {};
    }
};

// Calls `visit` with an op for pixels of K channels.
template <class R, int K, class Visitor>
inline auto dispatch_op(native::Op op, const Visitor& visit) {
    return dispatch(Ops::For<R, K>(), static_cast<int>(op), visit);
}

// Computes the parameters of a sample's ops, for K channels from `first` on, unless they are there: once for all
// segments of a task, as they cost as much as a row.
template <class R, int K>
inline void prepare_chain(const native::PointwiseCall& call, const PointwiseRecord& args, long long n, int first,
                          R max_value, ChainWorkspace<R>& workspace) {
    if (workspace.prepared_channel == first) return;
    workspace.prepared_channel = first;
    auto column = [&](int i) __attribute__((noinline)) { return parameter(args, n, i); };  // every op reads several
    R* params = workspace.params;
    for (int i = 0, first_column = 0; i < call.ops; ++i) {
        const native::ChainOp& chain_op = call.op[i];
        if (chain_op.user != nullptr) {
            for (int j = 0; j < chain_op.user_params; ++j) *params++ = static_cast<R>(column(first_column + j));
            first_column += chain_op.user_params;
            continue;
        }
        dispatch_op<R, K>(chain_op.op, [&](auto op) {
            using Op = decltype(op);
            static_assert(Op::sample_params + Op::channel_params * K <= native::max_user_params,
                          "max_params has room for any chain");
            fill_params<Op, R, K>(column, first_column, first, args.channels, max_value, params);
            params += Op::sample_params + Op::channel_params * K;
            first_column += Op::sample_params + Op::channel_params * args.channels;
        });
    }
}

// Returns whether any op changed the segment. Between the ops a share of the previous segment's pending store goes out.
template <class R, int K>
inline bool apply_chain(const native::PointwiseCall& call, const PixelContext<R>& context, int count,
                        ChainWorkspace<R>& workspace) {
    const R* params = workspace.params;
    bool changed = false;
    workspace.pending_store.store_part(call.ops + 1);
    for (int i = 0; i < call.ops; workspace.pending_store.store_part(call.ops - i), ++i) {
        const native::ChainOp& chain_op = call.op[i];
        if (chain_op.user != nullptr) {
            chain_op.user(sizeof(R), K, params, &context, count, workspace.channel);
            params += chain_op.user_params;
            changed = true;
            continue;
        }
        dispatch_op<R, K>(chain_op.op, [&](auto op) {
            using Op = decltype(op);
            changed |= apply_op<R, K>(op_of<Op>(params), context, count, workspace.channel);
            params += Op::sample_params + Op::channel_params * K;
        });
    }
    return changed;
}

// Whether an op treats every channel alike and alone: `channelwise` where an op has it.
template <class Op>
constexpr auto is_channelwise(int) -> decltype(Op::channelwise) {
    return Op::channelwise;
}
template <class Op>
constexpr bool is_channelwise(long) {
    return false;
}

inline bool is_channelwise(const native::ChainOp& chain_op) {
    return chain_op.user == nullptr &&
           dispatch_op<float, 1>(chain_op.op, [](auto op) { return is_channelwise<decltype(op)>(0); });
}

// If all ops are channelwise, packed images become images of one channel, which need no deinterleaving. Not for uint8
// with three channels: deinterleave_rgb8 converts faster than load_row does. A brightness of 224x224 takes 37 us
// deinterleaved and 63 us as one channel.
inline void treat_channels_as_pixels(native::PointwiseCall& call, PointwiseRecord& args) {
    if (deinterleaves_in_simd && args.channels == 3 && call.source == dtype_of<uint8> && call.target == dtype_of<uint8>)
        return;
    for (int i = 0; i < call.ops; ++i)
        if (!is_channelwise(call.op[i])) return;
    const int channels = args.channels;
    auto packed = [&](const BatchView& view) { return view.c == 1 && view.x == channels; };
    if (!packed(args.in) || !packed(args.out) || call.out_channels != channels || args.in_width > (1 << 30) / channels)
        return;
    args.in.x = args.out.x = 1;
    args.in_width *= channels;
    args.out_width *= channels;
    args.channels = call.out_channels = 1;
}

}  // namespace cuaug
