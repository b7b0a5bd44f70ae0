#pragma once

#include "ops/where.cuh"
#include "pixel.cuh"

// Ops one after the other, each a struct of one sample's parameters. `column(i)` is parameter i of the chain: an op takes `shared`
// of them, then `each` for every channel of the image.

namespace cuaug {

template <class Op, class R, int K, class Column>
inline Op op_of(const Column& column, int from, int first, int channels) {
    R field[Op::shared + Op::each * K + 1];
    for (int i = 0; i < Op::shared; ++i) field[i] = static_cast<R>(column(from + i));
    for (int j = 0; j < Op::each; ++j)
        for (int k = 0; k < K; ++k)
            field[Op::shared + j * K + k] = static_cast<R>(column(from + Op::shared + j * channels + (first + k < channels ? first + k : channels - 1)));
    Op op;
    if (Op::shared + Op::each > 0) memcpy(&op, field, sizeof(Op));
    return op;
}

template <class R, int K, class... Ops>
struct Sequence;

template <class R, int K>
struct Sequence<R, K> {
    template <class Column>
    static Sequence of(const Column&, int, int, int) { return {}; }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>&) const { return in; }
};

template <class R, int K, class Op, class... Others>
struct Sequence<R, K, Op, Others...> {
    Op op;
    Sequence<R, K, Others...> others;

    // For channels `first` and on, of `channels`.
    template <class Column>
    static Sequence of(const Column& column, int from, int first, int channels) {
        return {op_of<Op, R, K>(column, from, first, channels),
                Sequence<R, K, Others...>::of(column, from + Op::shared + Op::each * channels, first, channels)};
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const { return others(op(in, where), where); }
};

// The ops of a name expression, before it is known what pixels they meet.
template <template <class, int> class... Ops>
struct Chain {
    template <class R, int K> using Of = Sequence<R, K, Ops<R, K>...>;
};

}  // namespace cuaug
