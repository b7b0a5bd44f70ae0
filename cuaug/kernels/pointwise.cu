#include "chain.cuh"
#include "gpu/bytes.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"
#include "pointwise_record.cuh"

namespace cuaug {

constexpr int pointwise_threads = 256;

// A thread makes 4 adjacent pixels of K channels, in steps of a grid over the frames. With one channel in and three out, or three in
// and one out, the result is grey. Grid: (threads for a frame, 1, frames x groups of K).
template <class In, class InLayout, int K, class Chain, class Out, class OutLayout, int OutK>
__global__ void __launch_bounds__(pointwise_threads) pointwise(const __grid_constant__ Pointwise args) {
    using R = Real<In>;
    using Ops = typename Chain::template Of<R, K>;
    constexpr bool grouped = Same<InLayout, Strided>::value || Same<OutLayout, Strided>::value;
    const int width = args.in_width, height = args.in_height, groups = grouped ? (args.channels + K - 1) / K : 1;
    const unsigned int across = (width + 3) / 4, index = blockIdx.x * pointwise_threads + threadIdx.x;
    const int y = index / across, x = 4 * (index - y * across);
    __shared__ R field[Ops::fields + 1];

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * groups; slice += gridDim.z) {
        const long long frame = grouped ? slice / groups : slice, n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const int first = grouped ? static_cast<int>(slice - frame * groups) * K : 0, channels = args.channels - first, count = min(4, width - x);
        long long from[K], to[OutK];
        channel_offsets<InLayout, K>(args.in.c, channels, from);
        channel_offsets<OutLayout, OutK>(args.out.c, OutK == K ? channels : OutK, to);
        const int in_step = column_stride<InLayout, K>(args.in.x), out_step = column_stride<OutLayout, OutK>(args.out.x);
        const In* in = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t + first * args.in.c + y * args.in.y + static_cast<long long>(x) * in_step;
        Out* out = static_cast<Out*>(args.out.data) + n * args.out.n + t * args.out.t + first * args.out.c + y * args.out.y + static_cast<long long>(x) * out_step;
        if constexpr (Ops::fields > 0) {  // once for the block: they cost more than four pixels
            __syncthreads();
            for (int i = threadIdx.x; i < Ops::fields; i += pointwise_threads) field[i] = static_cast<R>(parameter(args, n, Ops::column(i, 0, first, args.channels)));
            __syncthreads();
            if (threadIdx.x == 0) Ops::prepare(field, R(white<In>));
            __syncthreads();
        }
        if (y >= height) continue;

        const FourPixels<In, K> pixels = load_pixels<InLayout, In, K>(in, from, in_step, args.in_aligned, count);
        Pixel<R, K> made[4];
        Where<R> where[4];
        for (int j = 0; j < 4; ++j) {
            where[j] = {x + j, y, width, height, R(white<In>), R(white<Out>), static_cast<int>(t) * groups + first / K};
            made[j] = (R(1) / R(white<In>)) * unpacked<R>(pixels.v[j]);
        }
        Ops::of(field).apply(made, where);
        FourPixels<Out, OutK> result;
        for (int j = 0; j < 4; ++j) {
            Pixel<R, OutK> scaled;
            for (int k = 0; k < OutK; ++k) scaled.c[k] = R(white<Out>) * made[j].c[min(k, K - 1)];
            result.v[j] = packed<Out>(scaled);
        }
        store_pixels<OutLayout, Out, OutK>(out, to, out_step, args.out_aligned, count, OutK == K ? channels : OutK, result);
    }
}

}  // namespace cuaug
