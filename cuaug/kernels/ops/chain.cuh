#pragma once

#include "ops/pixel_context.cuh"
#include "pixel.cuh"

// Ops one after the other, each a struct of one sample's parameters: `shared` numbers, then `each` numbers for every
// channel of the image.

namespace cuaug {

// The chain's column that field i of an op comes from, whose first is `from`, for K channels from `first` on, of
// `channels`.
template <class Op, int K>
inline int column_of(int i, int from, int first, int channels) {
    if (i < Op::shared) return from + i;
    const int j = (i - Op::shared) / K, c = first + (i - Op::shared) % K;
    return from + Op::shared + j * channels + (c < channels ? c : channels - 1);
}

// What an op makes of its parameters, once for a sample, before pixels meet it: see `prepare` where an op has one.
template <class Op, class R>
inline auto prepare_op(R* field, R max_value, int) -> decltype(Op::prepare(field, max_value)) {
    return Op::prepare(field, max_value);
}
template <class Op, class R>
inline void prepare_op(R*, R, long) {}

// Calls `use` with the op, or, one after the other, with those that it consists of for this sample, if it has `steps`:
// whoever works on many pixels takes one step with all of them.
template <class Op, class Use>
inline auto each_step(const Op& op, const Use& use, int) -> decltype(op.steps(use)) {
    return op.steps(use);
}
template <class Op, class Use>
inline void each_step(const Op& op, const Use& use, long) {
    use(op);
}

// From prepared fields.
template <class Op, class R>
inline Op op_of(const R* field) {
    Op op;
    if (Op::shared + Op::each > 0) memcpy(&op, field, sizeof(Op));
    return op;
}

// Prepared fields; `column(i)` is column i of a sample, `max_value` what 1 is in the images' own range.
template <class Op, class R, int K, class Column>
inline void fill_fields(const Column& column, int from, int first, int channels, R max_value, R* field) {
    for (int i = 0; i < Op::shared + Op::each * K; ++i)
        field[i] = static_cast<R>(column(column_of<Op, K>(i, from, first, channels)));
    prepare_op<Op>(field, max_value, 0);
}

template <class Op, class R, int K, class Column>
inline Op op_of(const Column& column, int from, int first, int channels, R max_value) {
    R field[Op::shared + Op::each * K + 1];
    fill_fields<Op, R, K>(column, from, first, channels, max_value, field);
    return op_of<Op>(field);
}

// Whether it looks at where a pixel lies: `placed` where an op does.
template <class Op>
constexpr auto is_placed(int) -> decltype(Op::placed) {
    return Op::placed;
}
template <class Op>
constexpr bool is_placed(long) {
    return false;
}

// Whether what it makes of shares within 0..1 lies there too: `within` where an op says so.
template <class Op>
constexpr auto is_within(int) -> decltype(Op::within) {
    return Op::within;
}
template <class Op>
constexpr bool is_within(long) {
    return false;
}

template <class R, int K, class... Ops>
struct Sequence;

template <class R, int K>
struct Sequence<R, K> {
    static constexpr int fields = 0;
    static constexpr bool placed = false, within = true;

    static int column(int, int from, int, int) { return from; }
    static void prepare(R*, R) {}
    static Sequence of(const R*) { return {}; }
    bool idle() const { return true; }

    template <int N>
    void apply(Pixel<R, K> (&)[N], const Where<R> (&)[N]) const {}
};

template <class R, int K, class Op, class... Others>
struct Sequence<R, K, Op, Others...> {
    using Rest = Sequence<R, K, Others...>;
    static constexpr int own = Op::shared + Op::each * K, fields = own + Rest::fields;
    static constexpr bool placed = is_placed<Op>(0) || Rest::placed, within = is_within<Op>(0) && Rest::within;

    Op op;
    Rest others;

    // The column that field i comes from.
    static int column(int i, int from, int first, int channels) {
        if (i < own) return column_of<Op, K>(i, from, first, channels);
        return Rest::column(i - own, from + Op::shared + Op::each * channels, first, channels);
    }

    static void prepare(R* field, R max_value) {
        prepare_op<Op>(field, max_value, 0);
        Rest::prepare(field + own, max_value);
    }

    static Sequence of(const R* field) { return {op_of<Op>(field), Rest::of(field + own)}; }

    // Whether no op has anything to do for the sample.
    bool idle() const {
        bool none_here = true;
        each_step(op, [&](const auto&) { none_here = false; }, 0);
        return none_here && others.idle();
    }

    template <int N>
    void apply(Pixel<R, K> (&pixels)[N], const Where<R> (&where)[N]) const {
        each_step(
            op,
            [&](const auto& step) {
                for (int i = 0; i < N; ++i) pixels[i] = step(pixels[i], where[i]);
            },
            0);
        others.apply(pixels, where);
    }
};

// The ops of a name expression, before it is known what pixels they meet.
template <template <class, int> class... Ops>
struct Chain {
    static constexpr bool empty = sizeof...(Ops) == 0;
    template <class R, int K>
    using Of = Sequence<R, K, Ops<R, K>...>;
};

}  // namespace cuaug
