#pragma once

#include "ops/chain.cuh"
#include "gpu/pixel_convert.cuh"
#include "records/parameter_table.cuh"

namespace cuaug {

// The chain of ops that a blur or resample kernel applies to its results before it stores them. The chain processes one
// channel at a time. The kernels first round their results to the images' dtype, so that the stored values equal those
// of a separate pass over the rounded results. The parameters, for K channels, are in shared memory.
template <class Chain, class In, class Out, int K>
struct ChannelOps {
    using R = ComputeType<In>;
    using Ops = typename Chain::template For<R, 1>;
    static_assert(!Ops::uses_position);
    static constexpr bool is_empty = Chain::empty, has_parameters = Ops::param_count > 0;
    static constexpr int param_count = has_parameters ? Ops::param_count : 1;  // an array has at least one element

    // Prepared, of channels 0 to K - 1, then of 0 to K - 2 again: `first_channel` + k needs no modulo.
    R params[2 * K - 1][param_count];

    // Called by one warp. Reads the parameters of sample n, for the channels from `first_channel` on. `table`: [N, P],
    // the parameters of all ops for images of `channels` channels.
    void read(const ParameterTable& table, int channels, long long n, int first_channel, int lane) {
        if (!has_parameters || lane >= 2 * K - 1) return;
        const int channel = first_channel + (lane < K ? lane : lane - K);
        for (int i = 0; i < Ops::param_count; ++i)
            params[lane][i] = static_cast<R>(
                cuaug::read(table, n * table.n_stride + Ops::column(i, 0, channel, channels) * table.x_stride));
        Ops::prepare(params[lane], R(max_value<In>));
    }

    // Rounds values of the images' range to their dtype, applies the ops, and scales the results to the range of `Out`.
    // The channels are those of `apply`.
    template <int Step, int N>
    void round_and_apply(int first_channel, R (&values)[N]) const {
        for (int i = 0; i < N; ++i) values[i] = to_unit_range<R>(RawPixel<In, 1>{{saturate_cast<In>(values[i])}}).c[0];
        apply<Step>(first_channel, values);
        for (int i = 0; i < N; ++i) values[i] *= R(max_value<Out>);
    }

    // Applies the ops to values that are scaled to 0..1. Value i is of channel first_channel + i % Step; after channel
    // K - 1 comes 0 again.
    template <int Step, int N>
    void apply(int first_channel, R (&values)[N]) const {
        constexpr int values_per_channel = (N + Step - 1) / Step;
        PixelContext<R> context[values_per_channel] = {};
        for (int i = 0; i < values_per_channel; ++i)
            context[i].max_value = R(max_value<In>), context[i].out_max_value = R(max_value<Out>);
#pragma unroll
        for (int k = 0; k < Step; ++k) {
            Pixel<R, 1> pixels[values_per_channel] = {};
            for (int i = k; i < N; i += Step) pixels[i / Step].c[0] = values[i];
            Ops::of(params[first_channel + k]).apply(pixels, context);
            for (int i = k; i < N; i += Step) values[i] = pixels[i / Step].c[0];
        }
    }
};

}  // namespace cuaug
