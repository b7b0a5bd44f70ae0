#include "gpu/batch_slice.cuh"
#include "gpu/thread_work.cuh"
#include "ops/chain.cuh"
#include "ops/mixes/cutmix.cuh"
#include "ops/mixes/mixup.cuh"

namespace cuaug {

// Resident blocks, which limit the registers. One block for four channels of float64 and, on compute capability 10 and
// newer, for all but the first case: with two, strided pixels spill.
template <class T, class InLayout, int K, class OutLayout>
constexpr int mix_blocks = sizeof(T) <= 4 && K < 4 && has_static_channels<InLayout, OutLayout> ? 4
                           : (sizeof(T) == 8 && K == 4) || __CUDA_ARCH__ >= 1000               ? 1
                                                                                               : 2;

// A block makes a run of rows of a strip of columns, as in pointwise.cu, from the pixels of two samples. Grid: (strips,
// runs, samples x frames x groups of K channels).
template <class T, class InLayout, int K, template <class, int> class Mix, class OutLayout>
__global__ void __launch_bounds__(pointwise_threads, (mix_blocks<T, InLayout, K, OutLayout>))
    mix(const __grid_constant__ PointwiseRecord args) {
    using R = ComputeType<T>;
    using Slice = BatchSlice<InLayout, OutLayout, K>;
    const FrameWalk<InLayout, OutLayout, K> walk(args, op_uses_position<Mix<R, K>>(0));

    for (long long index = blockIdx.z; index < Slice::count(args); index += gridDim.z) {
        const Slice slice(args, index);
        long long in_offsets[K], out_offsets[K];
        channel_offsets<InLayout, K>(args.in.c_stride, slice.channels, in_offsets);
        channel_offsets<OutLayout, K>(args.out.c_stride, slice.channels, out_offsets);
        const T* in = slice.template input<T>(args) + walk.in_first;
        const T* partner = in + (partner_of(args, slice.n) - slice.n) * args.in.n_stride;
        T* out = slice.template output<T>(args) + walk.out_first;
        // Column 0 of the parameters is the partner (partner_of); those of the op begin in column 1.
        const auto op = op_of<Mix<R, K>, R, K>([&](int i) { return parameter(args, slice.n, i); }, 1, slice.first,
                                               args.channels, R(max_value<T>));
#pragma unroll 1
        for (int remaining = walk.work.steps, y = walk.work.y; remaining > 0; --remaining, y += walk.work.row_step) {
            FourPixels<T, K> pair[2], result;
            walk.load({in, partner}, in_offsets, pair);
            for (int j = 0; j < 4; ++j) {
                const PixelContext<R> context = {walk.work.x + j, y, args.in_width, args.in_height, R(max_value<T>),
                                                 R(max_value<T>)};
                result.v[j] = saturate_pack<T>(op(to_pixel<R>(pair[0].v[j]), to_pixel<R>(pair[1].v[j]), context));
            }
            store_pixels<OutLayout, T, K>(out, out_offsets, walk.out_step, args.out_vector_elements, walk.work.count,
                                          slice.channels, result);
            in += walk.in_advance, partner += walk.in_advance, out += walk.out_advance;
        }
    }
}

}  // namespace cuaug
