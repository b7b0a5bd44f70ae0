#pragma once

#include "ops/ops.cuh"
#include "records/pointwise.cuh"
#include "deinterleave.hpp"
#include "copy_pixels.hpp"
#include "row_segment.hpp"
#include "pixel_io.hpp"
#include "nontemporal.hpp"

// A task is some rows of a frame. A piece of a row stays in the cache while one op after the other goes over it.

namespace cuaug {

template <class R>
struct PointwiseWorkspace {
    R channel[4][segment_width];
    R outgoing[4 * segment_width];  // what `leaving` takes to the result while the next piece is worked on
    R scratch[4 * segment_width + 4];
    R field[native::max_params];  // of the chain, for a sample's four channels from `prepared` on
    int prepared;
    bool last;  // see stream.hpp
    PendingStore<R> pending_store;

    void begin(bool is_last) { prepared = -1, last = is_last, pending_store = {}; }
};

// The three below are the same for all dtypes, and compiled once.

template <class R>
__attribute__((noinline)) void scale_values(R* values, int count, R factor) {
    if (factor == R(1)) return;
    for (int i = 0; i < count; ++i) values[i] *= factor;
}

template <class R>
__attribute__((noinline)) void deinterleave(const R* __restrict__ from, int channels, int count, R factor,
                                            R (*__restrict__ to)[segment_width]) {
    dispatch_channels(channels, [&](auto all) {
        constexpr int K = decltype(all)::value;
        for (int i = 0; i < count; ++i)
            for (int k = 0; k < K; ++k) to[k][i] = from[K * i + k] * factor;
    });
}

template <class R>
__attribute__((noinline)) void interleave(const R (*__restrict__ from)[segment_width], int channels, int count,
                                          R factor, R* __restrict__ to) {
    dispatch_channels(channels, [&](auto all) {
        constexpr int K = decltype(all)::value;
        for (int i = 0; i < count; ++i)
            for (int k = 0; k < K; ++k) to[K * i + k] = from[k][i] * factor;
    });
}

// Columns first .. first + count of a row, times `factor`, channel by channel, so that one instruction works on the
// same channel of many pixels.
template <class T, class R>
inline void load_channels(const ChannelGroup& plane, int row, int first, int count, R factor,
                          PointwiseWorkspace<R>& workspace) {
    const T* at = reinterpret_cast<const T*>(plane.data) + row * plane.y_stride + first * plane.x_stride;
    if (!plane.packed) {
        for (int k = 0; k < plane.channels; ++k) {
            load_row(at + plane.offset[k], plane.x_stride, count, workspace.channel[k]);
            scale_values(workspace.channel[k], count, factor);
        }
        return;
    }
    at += plane.offset[0];
    if constexpr (is_same_v<T, R>) {
        deinterleave(at, plane.channels, count, factor, workspace.channel);
    } else {
        if constexpr (is_same_v<T, uint8>)
            if (plane.channels == 3) return deinterleave_rgb8(at, count, factor, workspace.channel);
        load_row(at, 1, count * plane.channels, workspace.scratch);
        deinterleave(workspace.scratch, plane.channels, count, factor, workspace.channel);
    }
}

// No more than once in the text, though several loops store. `last`: nobody reads a result of R's own type soon
// (stream.hpp).
template <class T, class R>
__attribute__((noinline)) void store_channels(const ChannelGroup& plane, int row, int first, int count, R factor,
                                              PointwiseWorkspace<R>& workspace, bool last = false) {
    T* at = reinterpret_cast<T*>(plane.data) + row * plane.y_stride + first * plane.x_stride;
    if (!plane.packed) {
        for (int k = 0; k < plane.channels; ++k) {
            scale_values(workspace.channel[k], count, factor);
            if constexpr (is_same_v<T, R>)
                if (last && plane.x_stride == 1) {
                    store_nontemporal(workspace.channel[k], count, at + plane.offset[k]);
                    continue;
                }
            store_row(workspace.channel[k], count, at + plane.offset[k], plane.x_stride);
        }
        return;
    }
    if constexpr (is_same_v<T, R>) {
        interleave(workspace.channel, plane.channels, count, factor, last ? workspace.outgoing : at + plane.offset[0]);
        if (last) workspace.pending_store = {workspace.outgoing, at + plane.offset[0], count * plane.channels};
        return;
    }
    if constexpr (is_same_v<T, uint8> && is_same_v<R, float>)
        if (plane.channels == 3) return interleave_rgb8(workspace.channel, count, factor, at + plane.offset[0]);
    interleave(workspace.channel, plane.channels, count, factor, workspace.scratch);
    store_row(workspace.scratch, count * plane.channels, at + plane.offset[0], 1);
}

// Calls `use` with the op of a name, for pixels of K channels.
template <class R, int K, class Visitor>
inline auto dispatch_op(native::Op op, const Visitor& visit) {
    return dispatch(Ops::For<R, K>(), static_cast<int>(op), visit);
}

// The parameters of a sample's ops for channels from `first` on, once for all pieces of a task: they cost as much as a
// row.
template <class R, int K>
inline void prepare_chain(const native::PointwiseCall& call, const Pointwise& args, long long n, int first, R max_value,
                          PointwiseWorkspace<R>& workspace) {
    if (workspace.prepared == first) return;
    workspace.prepared = first;
    auto column = [&](int i) { return parameter(args, n, i); };
    R* field = workspace.field;
    for (int o = 0, from = 0; o < call.ops; ++o) {
        const native::ChainOp& step = call.op[o];
        if (step.user != nullptr) {
            for (int i = 0; i < step.user_params; ++i) *field++ = static_cast<R>(column(from + i));
            from += step.user_params;
            continue;
        }
        dispatch_op<R, K>(step.op, [&](auto op) {
            using Op = decltype(op);
            static_assert(Op::sample_params + Op::channel_params * K <= native::max_user_params,
                          "a chain's fields have room for it");
            fill_params<Op, R, K>(column, from, first, args.channels, max_value, field);
            field += Op::sample_params + Op::channel_params * K;
            from += Op::sample_params + Op::channel_params * args.channels;
        });
    }
}

// Whether an op had something to do.
template <class R, int K>
inline bool apply_chain(const native::PointwiseCall& call, const PixelContext<R>& context, int count,
                        PointwiseWorkspace<R>& workspace) {
    const R* field = workspace.field;
    bool changed = false;
    workspace.pending_store.store_part(call.ops + 1);
    for (int o = 0; o < call.ops; workspace.pending_store.store_part(call.ops - o), ++o) {
        const native::ChainOp& step = call.op[o];
        if (step.user != nullptr) {
            step.user(sizeof(R), K, field, &context, count, workspace.channel);
            field += step.user_params;
            changed = true;
            continue;
        }
        dispatch_op<R, K>(step.op, [&](auto op) {
            using Op = decltype(op);
            changed |= apply<R, K>(op_of<Op>(field), context, count, workspace.channel);
            field += Op::sample_params + Op::channel_params * K;
        });
    }
    return changed;
}

template <class R>
inline void pointwise_segment(const native::PointwiseCall& call, const Pointwise& args, long long n, long long t, int y,
                              int x, int count, PointwiseWorkspace<R>& workspace) {
    for (int c = 0; c < args.channels; c += 4) {
        const int channels = args.channels - c < 4 ? args.channels - c : 4,
                  out_channels = call.out_channels == args.channels ? channels : call.out_channels;
        const int plane_index = static_cast<int>(t) * ((args.channels + 3) / 4) + c / 4;
        PixelContext<R> context = {x, y, args.in_width, args.in_height, R(1), R(1), plane_index};
        dispatch_image_dtype(call.source, [&](auto element) {
            using T = decltype(element);
            if constexpr (is_same_v<ComputeType<T>, R>) {
                context.max_value = R(max_value<T>);
                load_channels<T>(channel_group<T>(args.in, n, t, c, args.channels), y, x, count, R(1) / R(max_value<T>),
                                 workspace);
            }
        });
        dispatch_image_dtype(call.target, [&](auto element) {
            using T = decltype(element);
            context.out_max_value = R(max_value<T>);
            dispatch_channels(channels, [&](auto K) {
                prepare_chain<R, decltype(K)::value>(call, args, n, c, context.max_value, workspace);
                apply_chain<R, decltype(K)::value>(call, context, count, workspace);
            });
            for (int k = channels; k < out_channels; ++k)
                memcpy(workspace.channel[k], workspace.channel[0], sizeof(R) * count);
            const int all = call.out_channels == args.channels ? args.channels : out_channels;
            store_channels<T>(channel_group<T>(args.out, n, t, c, all), y, x, count, R(max_value<T>), workspace,
                              workspace.last);
        });
    }
}

// Enough tasks for the threads of any machine.
inline int pointwise_rows(const Batch& args) {
    const long long enough = 256, frames = args.samples * args.frames, parts = frames >= enough ? 1 : enough / frames;
    return static_cast<int>((args.in_height + parts - 1) / parts);
}

inline Pointwise pointwise_record(const void* record) {
    Pointwise args;
    memcpy(&args, record, sizeof(args));
    return args;
}

inline long long pointwise_tasks(const Batch& args) {
    const long long frames = args.samples * args.frames;
    if (frames == 0 || args.channels == 0 || args.in_width == 0 || args.in_height == 0) return 0;
    return frames * ((args.in_height + pointwise_rows(args) - 1) / pointwise_rows(args));
}

inline long long pointwise_tasks(const native::PointwiseCall& call) {
    return pointwise_tasks(pointwise_record(call.record));
}

inline TaskRows task_rows(const Batch& args, long long task) {
    return task_rows(args, args.in_height, pointwise_rows(args), task);
}

// Calls `piece(n, t, y, x, count)` for each piece of a task's rows.
template <class Piece>
inline void for_each_segment(const Batch& args, long long task, const Piece& piece) {
    const TaskRows rows = task_rows(args, task);
    for (int y = rows.top; y < rows.bottom; ++y)
        for (int x = 0; x < args.in_width; x += segment_width)
            piece(rows.n, rows.t, y, x, args.in_width - x < segment_width ? args.in_width - x : segment_width);
}

// Rows as they are, of elements of so many bytes; once in the text for all dtypes of that size.
template <int Bytes>
__attribute__((noinline)) void copy_rows(const ChannelGroup& in, const ChannelGroup& out, int width, int top,
                                         int bottom) {
    const bool packed = in.packed && out.packed;
    const long long from_step = Bytes * (packed ? 1 : in.x_stride), to_step = Bytes * (packed ? 1 : out.x_stride);
    const int count = packed ? width * in.channels : width;
    for (int y = top; y < bottom; ++y)
        for (int k = 0; k < (packed ? 1 : in.channels); ++k)
            copy_run<Bytes>(in.data + Bytes * (y * in.y_stride + in.offset[k]), from_step, count,
                            out.data + Bytes * (y * out.y_stride + out.offset[k]), to_step);
}

// A task's, of a sample that stays as it is.
template <class T>
inline void copy_rows(const Batch& args, const TaskRows& rows) {
    for (int c = 0; c < args.channels; c += 4)
        copy_rows<sizeof(T)>(channel_group<T>(args.in, rows.n, rows.t, c, args.channels),
                             channel_group<T>(args.out, rows.n, rows.t, c, args.channels), args.in_width, rows.top,
                             rows.bottom);
}

// Whether an op treats every channel alike and alone: `channelwise` where an op says so.
template <class Op>
constexpr auto is_channelwise(int) -> decltype(Op::channelwise) {
    return Op::channelwise;
}
template <class Op>
constexpr bool is_channelwise(long) {
    return false;
}

inline bool is_channelwise(const native::ChainOp& op) {
    return op.user == nullptr &&
           dispatch_op<float, 1>(op.op, [](auto functor) { return is_channelwise<decltype(functor)>(0); });
}

// To such ops packed channels are pixels of one channel: nothing has to be taken apart. Bytes of three are, and put
// together again, in less time than it takes to convert them in a row: a brightness of 224x224 in 37 us, not 63.
inline void treat_channels_as_pixels(native::PointwiseCall& call, Pointwise& args) {
    if (deinterleaves_in_simd && args.channels == 3 && call.source == dtype_of<uint8> && call.target == dtype_of<uint8>)
        return;
    for (int o = 0; o < call.ops; ++o)
        if (!is_channelwise(call.op[o])) return;
    const int channels = args.channels;
    auto packed = [&](const View& view) { return view.c == 1 && view.x == channels; };
    if (!packed(args.in) || !packed(args.out) || call.out_channels != channels || args.in_width > (1 << 30) / channels)
        return;
    args.in.x = args.out.x = 1;
    args.in_width *= channels;
    args.out_width *= channels;
    args.channels = call.out_channels = 1;
}

template <class R>
inline void pointwise_typed(native::PointwiseCall call, long long task, void* memory) {
    Pointwise args = pointwise_record(call.record);
    treat_channels_as_pixels(call, args);
    PointwiseWorkspace<R>& workspace = *static_cast<PointwiseWorkspace<R>*>(memory);
    workspace.begin(call.last &&
                    1.0 * args.samples * args.frames * args.in_height * args.in_width * call.out_channels * sizeof(R) >=
                        nontemporal_bytes);
    for_each_segment(args, task, [&](long long n, long long t, int y, int x, int count) {
        pointwise_segment(call, args, n, t, y, x, count, workspace);
    });
    workspace.pending_store.store_part(1);
    if (workspace.last) store_fence();
}

inline void pointwise_task(const native::PointwiseCall& call, long long task, void* memory) {
    if (call.source == dtype_of<float64>)
        pointwise_typed<double>(call, task, memory);
    else
        pointwise_typed<float>(call, task, memory);
}

}  // namespace cuaug
