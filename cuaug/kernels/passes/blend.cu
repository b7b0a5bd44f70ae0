#include "records/blend.cuh"
#include "ops/chain.cuh"
#include "gpu/batch_slice.cuh"
#include "gpu/thread_work.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

// A block makes a run of rows of a strip of columns, as in pointwise.cu. A pixel is the weighted sum of the input and
// the branches, rounded once, as if it had been stored, and then passed to the ops. More resident blocks are faster
// than loading all branches together (benchmarks/log/policies-gpu.md). Grid: (strips, runs, samples x frames x groups
// of K channels).
template <class T, class InLayout, int K, class Chain, class Out, class OutLayout>
__global__ void __launch_bounds__(pointwise_threads,
                                  sizeof(T) == 1 && K < 4 && has_static_channels<InLayout, OutLayout> ? 4 : 1)
    blend(const __grid_constant__ BlendRecord args) {
    using R = ComputeType<T>;
    using Ops = typename Chain::template For<R, K>;
    using Slice = BatchSlice<InLayout, OutLayout, K>;
    wait_for_previous();
    allow_next_launch();
    const int width = args.in_width, height = args.in_height, branches = static_cast<int>(args.branches);
    const int in_step = column_stride<InLayout, K>(args.in.x_stride),
              out_step = column_stride<OutLayout, K>(args.out.x_stride);
    const auto [x, first_y, row_step, steps, count] = work_in_strips(width, height);
    __shared__ R params[Ops::param_count + 1], weight[max_branches + 1];

    for (long long index = Slice::count(args) - 1 - blockIdx.z; index >= 0; index -= gridDim.z) {
        const Slice slice(args, index);
        long long in_offsets[K], out_offsets[K];
        channel_offsets<InLayout, K>(args.in.c_stride, slice.channels, in_offsets);
        channel_offsets<OutLayout, K>(args.out.c_stride, slice.channels, out_offsets);
        const T* in = slice.template input<T>(args) + first_y * args.in.y_stride + static_cast<long long>(x) * in_step;
        long long out_offset =
            slice.output_offset(args) + first_y * args.out.y_stride + static_cast<long long>(x) * out_step;
        __syncthreads();
        if (threadIdx.x < 32) read_params<Ops>(args, slice.n, slice.first, params, R(max_value<T>));
        if (threadIdx.x == 32) {
            double remaining_weight = 1.0;
            for (int i = 0; i <= branches; ++i)
                weight[i] = static_cast<R>(take_weight(args, slice.n, i, remaining_weight));
        }
        __syncthreads();
        const Ops ops = Ops::of(params);
#pragma unroll 1
        for (int remaining = steps, y = first_y; remaining > 0; --remaining, y += row_step) {
            Pixel<R, K> sum[4] = {};
            auto add = [&](const FourPixels<T, K>& pixels, int i) {
                for (int j = 0; j < 4; ++j) sum[j] = sum[j] + weight[i] * to_pixel<R>(pixels.v[j]);
            };
            add(load_pixels<InLayout, T, K>(in, in_offsets, in_step, args.in_vector_elements, count), 0);
            for (int i = 0; i < branches; ++i)
                add(load_pixels<OutLayout, T, K>(static_cast<const T*>(args.branch[i]) + out_offset, out_offsets,
                                                 out_step, args.out_vector_elements, count),
                    i + 1);
            FourPixels<T, K> rounded;
            for (int j = 0; j < 4; ++j) rounded.v[j] = saturate_pack<T>(sum[j]);
            Out* out = static_cast<Out*>(args.out.data) + out_offset;
            if constexpr (Chain::empty && is_same_v<Out, T>) {
                store_pixels<OutLayout, Out, K>(out, out_offsets, out_step, args.out_vector_elements, count,
                                                slice.channels, rounded);
            } else {
                Pixel<R, K> pixels[4];
                PixelContext<R> context[4];
                for (int j = 0; j < 4; ++j) {
                    context[j] = {x + j,
                                  y,
                                  width,
                                  height,
                                  R(max_value<T>),
                                  R(max_value<Out>),
                                  static_cast<int>(slice.t) * Slice::groups(args) + slice.group};
                    pixels[j] = to_unit_range<R>(rounded.v[j]);
                }
                ops.apply(pixels, context);
                store_unit_range<OutLayout, Out, is_same_v<T, uint8> && Ops::keeps_unit_range>(
                    out, out_offsets, out_step, args.out_vector_elements, count, slice.channels, pixels);
            }
            in += row_step * args.in.y_stride;
            out_offset += row_step * args.out.y_stride;
        }
    }
}

}  // namespace cuaug
