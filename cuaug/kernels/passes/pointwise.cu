#include "ops/chain.cuh"
#include "gpu/batch_slice.cuh"
#include "gpu/packed_store.cuh"
#include "gpu/thread_work.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

// Blocks resident on a multiprocessor: the compiler limits the registers so that this many blocks fit. float64, four
// channels, strided layouts and long chains may use as many registers as they need.
template <class In, class InLayout, int K, class Chain, class OutLayout>
constexpr int pointwise_resident_blocks =
    sizeof(ComputeType<In>) > 4 || K > 3 || !has_static_channels<InLayout, OutLayout> ||
            Chain::template For<ComputeType<In>, K>::param_count > 16
        ? 1
        : 4;

// A block makes a run of rows of a strip of columns (gpu/thread_work.cuh); a thread makes a column of groups of four
// adjacent pixels of K channels. The address of the next group takes one addition, and its vectors are loaded before
// this group is processed, except for float64. Parameters are read and prepared once per run. If the rows have no gaps,
// a frame is a multiple of four pixels and no op uses the position, the frame is taken as one contiguous array. K = 1,
// OutK = 3: the channel is repeated. K = 3, OutK = 1: channel 0 is stored; the op Grayscale has made all channels
// equal. Grid: (strips, runs, samples x frames x groups of K channels).
template <class In, class InLayout, int K, class Chain, class Out, class OutLayout, int OutK>
__global__ void __launch_bounds__(pointwise_threads, (pointwise_resident_blocks<In, InLayout, K, Chain, OutLayout>))
    pointwise(const __grid_constant__ PointwiseRecord args) {
    using R = ComputeType<In>;
    using Ops = typename Chain::template For<R, K>;
    using Slice = BatchSlice<InLayout, OutLayout, K>;
    constexpr bool loads_ahead = sizeof(In) <= 4,  // of float64, two groups would take too many registers
        by_warps = stores_by_warps<Out, OutLayout, OutK>, in_unit_range = is_same_v<In, uint8> && Ops::keeps_unit_range;
    wait_for_previous();
    allow_next_launch();
    const FrameWalk<InLayout, OutLayout, K, OutK> walk(args, Ops::uses_position);
    const bool vectors = walk.loads_vectors;
    const auto [x, first_y, row_step, steps, count] = walk.work;
    const int whole_warp_steps = by_warps && args.out_vector_elements ? walk.whole_warp_steps() : 0;
    __shared__ R params[Ops::param_count + 1];
    __shared__ PackedWarpStore<Out, OutK> warp_stores[by_warps ? pointwise_threads / 32 : 1];
    PackedWarpStore<Out, OutK>& warp_store = warp_stores[by_warps ? threadIdx.x / 32 : 0];
    if (by_warps) warp_store.prepare(walk.out_first, threadIdx.x % 32);

    // From the last sample to the first: what was written last is still in the cache.
    for (long long index = Slice::count(args) - 1 - blockIdx.z; index >= 0; index -= gridDim.z) {
        const Slice slice(args, index);
        long long in_offsets[K], out_offsets[OutK];
        channel_offsets<InLayout, K>(args.in.c_stride, slice.channels, in_offsets);
        channel_offsets<OutLayout, OutK>(args.out.c_stride, OutK == K ? slice.channels : OutK, out_offsets);
        const In* in = slice.template input<In>(args) + walk.in_first;
        Out* out = slice.template output<Out>(args) + walk.out_first;
        // The elements of one group. Loading two groups ahead gains nothing.
        Vectors<In, K, 1> raw;
        if (loads_ahead && vectors && steps > 0) raw = load_vectors<InLayout, In, K>(in, in_offsets);
        if constexpr (Ops::param_count > 0) {
            __syncthreads();
            if (threadIdx.x < 32) read_params<Ops>(args, slice.n, slice.first, params, R(max_value<In>));
            __syncthreads();
        }
        const Ops ops = Ops::of(params);
#pragma unroll 1
        for (int remaining = steps, y = first_y; remaining > 0; --remaining, y += row_step) {
            if (!loads_ahead && vectors) raw = load_vectors<InLayout, In, K>(in, in_offsets);
            const FourPixels<In, K> four =
                vectors ? elements_to_pixels<InLayout, In, K>(raw.elements[0])
                        : load_pixels<Strided, In, K>(in, in_offsets, walk.in_step, false, count);
            in += walk.in_advance;
            if (loads_ahead && vectors && remaining > 1) raw = load_vectors<InLayout, In, K>(in, in_offsets);

            Pixel<R, K> pixels[4];
            PixelContext<R> context[4];
            for (int j = 0; j < 4; ++j) {
                context[j] = {x + j,
                              y,
                              args.in_width,
                              args.in_height,
                              R(max_value<In>),
                              R(max_value<Out>),
                              static_cast<int>(slice.t) * Slice::groups(args) + slice.group};
                pixels[j] = to_unit_range<R>(four.v[j]);
            }
            ops.apply(pixels, context);
            Pixel<R, OutK> result[4];
            for (int j = 0; j < 4; ++j)
                for (int k = 0; k < OutK; ++k) result[j].c[k] = pixels[j].c[min(k, K - 1)];
            if (by_warps && steps - remaining < whole_warp_steps) {
                FourElements<Out> elements[OutK];
                unit_range_to_elements<OutLayout, Out, in_unit_range>(result, elements);
                warp_store.store(out, elements, threadIdx.x % 32);
            } else {
                store_unit_range<OutLayout, Out, in_unit_range>(out, out_offsets, walk.out_step,
                                                                args.out_vector_elements, count,
                                                                OutK == K ? slice.channels : OutK, result);
            }
            out += walk.out_advance;
        }
    }
}

}  // namespace cuaug
