#pragma once

#include "ops/ops.cuh"
#include "records/pointwise.cuh"
#include "channel_io.hpp"

// Applies a chain of ops to a segment: one op after the other, while the segment stays in the cache.

namespace cuaug {

template <class R>
struct ChainWorkspace : SegmentWorkspace<R> {
    R params[native::max_params];  // prepared parameters of all ops: of one sample, and of the four channels from
                                   // `prepared_channel` on
    int prepared_channel;
    bool nontemporal;     // the result bypasses the cache
    SegmentRows<R> rows;  // what the next op reads, and where it writes

    void begin(bool bypass_cache) {
        prepared_channel = -1;
        nontemporal = bypass_cache;
        this->pending_store = {};
        use_workspace_rows();
    }

    // Lets ops read and write `channel`.
    void use_workspace_rows() {
        for (int k = 0; k < 4; ++k) rows.in[k] = rows.out[k] = this->channel[k];
    }
};
static_assert(sizeof(ChainWorkspace<double>) <= native::workspace_bytes);

// Calls `visit` with an op for pixels of K channels.
template <class R, int K, class Visitor>
inline auto dispatch_op(native::Op op, const Visitor& visit) {
    return dispatch(Ops::For<R, K>(), static_cast<int>(op), visit);
}

// Computes the parameters of a sample's ops, for K channels from `first_channel` on, unless the workspace has them.
// With up to four channels they are computed once for all segments of a task, because computing them takes as long as
// applying the ops to a row.
template <class R, int K>
inline void prepare_chain(const native::PointwiseCall& call, const PointwiseRecord& args, long long n,
                          int first_channel, R max_value, ChainWorkspace<R>& workspace) {
    if (workspace.prepared_channel == first_channel) return;
    workspace.prepared_channel = first_channel;
    auto parameter_at = [&](int i) __attribute__((noinline)) {
        return parameter(args, n, i);
    };  // not inlined: every op calls it several times
    R* params = workspace.params;
    for (int i = 0, first_column = 0; i < call.op_count; ++i) {
        const native::ChainOp& chain_op = call.ops[i];
        if (chain_op.user != nullptr) {
            for (int j = 0; j < chain_op.user_param_count; ++j)
                *params++ = static_cast<R>(parameter_at(first_column + j));
            first_column += chain_op.user_param_count;
            continue;
        }
        dispatch_op<R, K>(chain_op.op, [&](auto op) {
            using Op = decltype(op);
            static_assert(Op::sample_params + Op::channel_params * K <= native::max_op_params,
                          "ChainWorkspace::params has room for max_op_params of each op");
            fill_params<Op, R, K>(parameter_at, first_column, first_channel, args.channels, max_value, params);
            params += Op::sample_params + Op::channel_params * K;
            first_column += Op::sample_params + Op::channel_params * args.channels;
        });
    }
}

// Applies the chain to `workspace.rows`. Returns whether any op was active for the sample. Between the ops, parts of
// the pending store of the previous segment are stored.
template <class R, int K>
inline bool apply_chain(const native::PointwiseCall& call, const PixelContext<R>& context, int count,
                        ChainWorkspace<R>& workspace) {
    const R* params = workspace.params;
    bool any_op_active = false;
    workspace.pending_store.store_part(call.op_count + 1);
    for (int i = 0; i < call.op_count; workspace.pending_store.store_part(call.op_count - i), ++i) {
        const native::ChainOp& chain_op = call.ops[i];
        if (chain_op.user != nullptr) {
            chain_op.user(sizeof(R), K, params, &context, count, &workspace.rows);
            params += chain_op.user_param_count;
            any_op_active = true;
            continue;
        }
        dispatch_op<R, K>(chain_op.op, [&](auto op) {
            using Op = decltype(op);
            any_op_active |= apply_op<R, K>(op_of<Op>(params), context, count, workspace.rows);
            params += Op::sample_params + Op::channel_params * K;
        });
    }
    return any_op_active;
}

// Whether the mean of the chain's result is needed, for the sample whose parameters are prepared. `needs_mean` of the
// last op decides.
template <class R, int K>
inline bool chain_needs_mean(const native::PointwiseCall& call, const ChainWorkspace<R>& workspace) {
    const R* params = workspace.params;
    bool is_needed = true;
    for (int i = 0; i < call.op_count; ++i) {
        const native::ChainOp& chain_op = call.ops[i];
        if (chain_op.user != nullptr) {
            params += chain_op.user_param_count;
            is_needed = true;
            continue;
        }
        dispatch_op<R, K>(chain_op.op, [&](auto op) {
            using Op = decltype(op);
            is_needed = op_needs_mean(op_of<Op>(params), 0);
            params += Op::sample_params + Op::channel_params * K;
        });
    }
    return is_needed;
}

// Whether an op treats all channels alike and each of them independently: `Op::channelwise`; false if the op has no
// such constant.
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

// Whether the chain has no op but Rescale, which returns its input: every pass itself scales pixels from the range of
// the input's dtype to that of the result's.
inline bool only_rescales(const native::PointwiseCall& call) {
    auto is_rescale = [](auto op) { return is_same_v<decltype(op), Rescale<float, 1>>; };
    for (int i = 0; i < call.op_count; ++i)
        if (call.ops[i].user != nullptr || !dispatch_op<float, 1>(call.ops[i].op, is_rescale)) return false;
    return true;
}

// If all ops are channelwise, packed images are treated as images of one channel, which need no deinterleaving. Images
// of three uint8 channels are not: deinterleave_rgb8 converts faster than load_row does. Adjusting the brightness of
// 224x224 pixels takes 37 us deinterleaved and 63 us as one channel.
inline void treat_channels_as_pixels(native::PointwiseCall& call, PointwiseRecord& args) {
    if (deinterleaves_with_simd && args.channels == 3 && call.in_dtype == dtype_of<uint8> &&
        call.out_dtype == dtype_of<uint8>)
        return;
    for (int i = 0; i < call.op_count; ++i)
        if (!is_channelwise(call.ops[i])) return;
    const int channels = args.channels;
    auto packed = [&](const BatchView& view) { return view.c_stride == 1 && view.x_stride == channels; };
    if (!packed(args.in) || !packed(args.out) || call.out_channels != channels || args.in_width > (1 << 30) / channels)
        return;
    args.in.x_stride = args.out.x_stride = 1;
    args.in_width *= channels;
    args.out_width *= channels;
    args.channels = call.out_channels = 1;
}

}  // namespace cuaug
