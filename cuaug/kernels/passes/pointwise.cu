#include "ops/chain.cuh"
#include "gpu/thread_work.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

// Blocks resident on a multiprocessor: the compiler limits the registers so that as many fit. float64, four channels,
// strided layouts and long chains may use as many registers as they need.
template <class In, class InLayout, int K, class Chain, class OutLayout>
constexpr int pointwise_resident_blocks =
    sizeof(ComputeType<In>) > 4 || K > 3 || !has_static_channels<InLayout, OutLayout> ||
            Chain::template For<ComputeType<In>, K>::param_count > 16
        ? 1
        : 4;

// A block makes a run of rows of a strip of columns (gpu/thread_work.cuh); a thread makes a column of groups of four
// adjacent pixels of K channels. The address of the next group takes one addition, and its pixels are loaded before
// this group is processed. Parameters are read and prepared once per run. If the rows have no gaps, a frame is a
// multiple of four pixels and no op uses the position, the frame is taken as one contiguous array. With one channel in
// and three out, or three in and one out, the result is gray. Grid: (strips, runs, frames x groups of K).
template <class In, class InLayout, int K, class Chain, class Out, class OutLayout, int OutK>
__global__ void __launch_bounds__(pointwise_threads, (pointwise_resident_blocks<In, InLayout, K, Chain, OutLayout>))
    pointwise(const __grid_constant__ PointwiseRecord args) {
    using R = ComputeType<In>;
    using Ops = typename Chain::template For<R, K>;
    constexpr bool split_channels = !has_static_channels<InLayout, OutLayout>,
                   loads_ahead = sizeof(In) <= 4;  // of float64, two groups would take too many registers
    wait_for_previous();
    allow_next_launch();
    const int width = args.in_width, height = args.in_height,
              channel_groups = split_channels ? (args.channels + K - 1) / K : 1;
    const int in_step = column_stride<InLayout, K>(args.in.x_stride),
              out_step = column_stride<OutLayout, OutK>(args.out.x_stride);
    const long long pixels = static_cast<long long>(width) * height, in_line = static_cast<long long>(width) * in_step,
                    out_line = static_cast<long long>(width) * out_step;
    const bool is_contiguous =
        !Ops::uses_position && pixels % 4 == 0 && args.in.y_stride == in_line && args.out.y_stride == out_line;
    ThreadWork work;
    if (is_contiguous)
        work = work_on_contiguous_frame(pixels);
    else
        work = work_in_strips(width, height);
    const auto [x, first_y, row_step, steps, count] = work;
    const long long in_row = is_contiguous ? 4LL * pointwise_threads * in_step : args.in.y_stride,
                    out_row = is_contiguous ? 4LL * pointwise_threads * out_step : args.out.y_stride;
    // Without `opaque` the compiler computes both strides and `vectors` again for each group: 30 instructions.
    const long long in_advance = opaque(row_step * in_row), out_advance = opaque(row_step * out_row);
    const bool vectors = !is_same_v<InLayout, Strided> && args.in_vector_elements && count == 4;
    __shared__ R params[Ops::param_count + 1];

    // From the last sample to the first: what was written last is still in the cache.
    for (long long slice = args.samples * args.frames * channel_groups - 1 - blockIdx.z; slice >= 0;
         slice -= gridDim.z) {
        const long long frame = split_channels ? slice / channel_groups : slice,
                        n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const int first_channel = split_channels ? static_cast<int>(slice - frame * channel_groups) * K : 0,
                  channels = args.channels - first_channel;
        long long in_offsets[K], out_offsets[OutK];
        channel_offsets<InLayout, K>(args.in.c_stride, channels, in_offsets);
        channel_offsets<OutLayout, OutK>(args.out.c_stride, OutK == K ? channels : OutK, out_offsets);
        const In* in = static_cast<const In*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride +
                       first_channel * args.in.c_stride + first_y * in_row + static_cast<long long>(x) * in_step;
        Out* out = static_cast<Out*>(args.out.data) + n * args.out.n_stride + t * args.out.t_stride +
                   first_channel * args.out.c_stride + first_y * out_row + static_cast<long long>(x) * out_step;
        // The elements of one group. Loading two groups ahead would take too many registers.
        Vectors<In, K, 1> raw;
        if (loads_ahead && vectors && steps > 0) raw = load_vectors<InLayout, In, K>(in, in_offsets);
        if constexpr (Ops::param_count > 0) {
            __syncthreads();
            if (threadIdx.x < 32) read_params<Ops>(args, n, first_channel, params, R(max_value<In>));
            __syncthreads();
        }
        const Ops ops = Ops::of(params);
#pragma unroll 1
        for (int remaining = steps, y = first_y; remaining > 0; --remaining, y += row_step) {
            if (!loads_ahead && vectors) raw = load_vectors<InLayout, In, K>(in, in_offsets);
            const FourPixels<In, K> four = vectors ? elements_to_pixels<InLayout, In, K>(raw.elements[0])
                                                   : load_pixels<Strided, In, K>(in, in_offsets, in_step, false, count);
            in += in_advance;
            if (loads_ahead && vectors && remaining > 1) raw = load_vectors<InLayout, In, K>(in, in_offsets);

            Pixel<R, K> pixels[4];
            PixelContext<R> context[4];
            for (int j = 0; j < 4; ++j) {
                context[j] = {x + j,
                              y,
                              width,
                              height,
                              R(max_value<In>),
                              R(max_value<Out>),
                              static_cast<int>(t) * channel_groups + first_channel / K};
                pixels[j] = to_unit_range<R>(four.v[j]);
            }
            ops.apply(pixels, context);
            Pixel<R, OutK> result[4];
            for (int j = 0; j < 4; ++j)
                for (int k = 0; k < OutK; ++k) result[j].c[k] = pixels[j].c[min(k, K - 1)];
            store_unit_range<OutLayout, Out, is_same_v<In, uint8> && Ops::keeps_unit_range>(
                out, out_offsets, out_step, args.out_vector_elements, count, OutK == K ? channels : OutK, result);
            out += out_advance;
        }
    }
}

}  // namespace cuaug
