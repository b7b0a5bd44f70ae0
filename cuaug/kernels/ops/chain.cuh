#pragma once

#include "ops/pixel_context.cuh"
#include "pixel.cuh"

// A chain of ops. An op is a struct of one sample's parameters: `sample_params` numbers, then `channel_params` arrays
// of one number per channel.

namespace cuaug {

// Column of the parameter table that an op's parameter i comes from. `first_column` is the op's first column. The op
// processes K of the image's `channels`, from `first_channel` on; channels beyond the last take its parameters.
template <class Op, int K>
inline int param_column(int i, int first_column, int first_channel, int channels) {
    if (i < Op::sample_params) return first_column + i;
    const int j = (i - Op::sample_params) / K, c = first_channel + (i - Op::sample_params) % K;
    return first_column + Op::sample_params + j * channels + (c < channels ? c : channels - 1);
}

// Prepares an op's parameters, before it sees pixels, if the op has a `prepare`.
template <class Op, class R>
inline auto prepare_op(R* params, R max_value, int) -> decltype(Op::prepare(params, max_value)) {
    return Op::prepare(params, max_value);
}
template <class Op, class R>
inline void prepare_op(R*, R, long) {}

// Calls `visit(step)` for each step that is active for this sample; an op without `active_steps` is its only step.
// Callers apply a step to all of their pixels before the next step.
template <class Op, class Visitor>
inline auto for_each_step(const Op& op, const Visitor& visit, int) -> decltype(op.active_steps(visit)) {
    return op.active_steps(visit);
}
template <class Op, class Visitor>
inline void for_each_step(const Op& op, const Visitor& visit, long) {
    visit(op);
}

// The op whose prepared parameters are `params`.
template <class Op, class R>
inline Op op_of(const R* params) {
    Op op;
    if (Op::sample_params + Op::channel_params > 0) memcpy(&op, params, sizeof(Op));
    return op;
}

// Reads and prepares an op's parameters. `column(i)` is column i of a sample's row; `max_value` is that of the images'
// dtype.
template <class Op, class R, int K, class Column>
inline void fill_params(const Column& column, int first_column, int first_channel, int channels, R max_value,
                        R* params) {
    for (int i = 0; i < Op::sample_params + Op::channel_params * K; ++i)
        params[i] = static_cast<R>(column(param_column<Op, K>(i, first_column, first_channel, channels)));
    prepare_op<Op>(params, max_value, 0);
}

template <class Op, class R, int K, class Column>
inline Op op_of(const Column& column, int first_column, int first_channel, int channels, R max_value) {
    R params[Op::sample_params + Op::channel_params * K + 1];  // + 1: an op may have no parameters
    fill_params<Op, R, K>(column, first_column, first_channel, channels, max_value, params);
    return op_of<Op>(params);
}

// Whether an op reads the pixel's position.
template <class Op>
constexpr auto op_uses_position(int) -> decltype(Op::uses_position) {
    return Op::uses_position;
}
template <class Op>
constexpr bool op_uses_position(long) {
    return false;
}

// Whether an op declares that it keeps pixels of 0..1 in 0..1.
template <class Op>
constexpr auto op_keeps_unit_range(int) -> decltype(Op::keeps_unit_range) {
    return Op::keeps_unit_range;
}
template <class Op>
constexpr bool op_keeps_unit_range(long) {
    return false;
}

// Whether the mean of an op's result is needed, for this sample: `Op::needs_mean`; true if the op has no such function.
template <class Op>
inline auto op_needs_mean(const Op& op, int) -> decltype(op.needs_mean()) {
    return op.needs_mean();
}
template <class Op>
inline bool op_needs_mean(const Op&, long) {
    return true;
}

template <class R, int K, class... Ops>
struct OpChain;

template <class R, int K>
struct OpChain<R, K> {
    static constexpr int param_count = 0;
    static constexpr bool uses_position = false, keeps_unit_range = true;

    static int column(int, int first_column, int, int) { return first_column; }
    static void prepare(R*, R) {}
    static OpChain of(const R*) { return {}; }
    bool is_identity() const { return true; }
    bool needs_mean() const { return true; }

    template <int N>
    void apply(Pixel<R, K> (&)[N], const PixelContext<R> (&)[N]) const {}
};

template <class R, int K, class Op, class... RestOps>
struct OpChain<R, K, Op, RestOps...> {
    using Rest = OpChain<R, K, RestOps...>;
    static constexpr int op_params = Op::sample_params + Op::channel_params * K,
                         param_count = op_params + Rest::param_count;
    static constexpr bool uses_position = op_uses_position<Op>(0) || Rest::uses_position,
                          keeps_unit_range = op_keeps_unit_range<Op>(0) && Rest::keeps_unit_range;

    Op op;
    Rest rest;

    // The column of the parameter table that parameter i comes from.
    static int column(int i, int first_column, int first_channel, int channels) {
        if (i < op_params) return param_column<Op, K>(i, first_column, first_channel, channels);
        return Rest::column(i - op_params, first_column + Op::sample_params + Op::channel_params * channels,
                            first_channel, channels);
    }

    static void prepare(R* params, R max_value) {
        prepare_op<Op>(params, max_value, 0);
        Rest::prepare(params + op_params, max_value);
    }

    static OpChain of(const R* params) { return {op_of<Op>(params), Rest::of(params + op_params)}; }

    // Whether no op is active for the sample.
    bool is_identity() const {
        bool op_is_inactive = true;
        for_each_step(op, [&](const auto&) { op_is_inactive = false; }, 0);
        return op_is_inactive && rest.is_identity();
    }

    // Whether the mean of the chain's result is needed, for this sample. `needs_mean` of the last op decides.
    bool needs_mean() const { return sizeof...(RestOps) == 0 ? op_needs_mean(op, 0) : rest.needs_mean(); }

    template <int N>
    void apply(Pixel<R, K> (&pixels)[N], const PixelContext<R> (&context)[N]) const {
        for_each_step(
            op,
            [&](const auto& step) {
                for (int i = 0; i < N; ++i) pixels[i] = step(pixels[i], context[i]);
            },
            0);
        rest.apply(pixels, context);
    }
};

// The ops of a name expression, before the compute type and the channels are known.
template <template <class, int> class... Ops>
struct Chain {
    static constexpr bool empty = sizeof...(Ops) == 0;
    template <class R, int K>
    using For = OpChain<R, K, Ops<R, K>...>;
};

}  // namespace cuaug
