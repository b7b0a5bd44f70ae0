#include "chain.cuh"
#include "gpu/bytes.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/succession.cuh"
#include "gpu/vectors.cuh"
#include "pointwise_record.cuh"

namespace cuaug {

constexpr int pointwise_threads = 256;

// A block makes a run of groups of 4 adjacent pixels of K channels, a thread every 256th of them: what ops need is read and prepared once
// for the run, and the next group is asked for before one is worked on. With one channel in and three out, or three in and one out, the
// result is grey. Long chains may take the registers they want. Grid: (runs of a frame, 1, frames x groups of K).
template <class In, class InLayout, int K, class Chain, class Out, class OutLayout, int OutK>
__global__ void __launch_bounds__(pointwise_threads, sizeof(Real<In>) > 4 || Chain::template Of<Real<In>, K>::fields > 16 ? 1 : 4) pointwise(const __grid_constant__ Pointwise args) {
    using R = Real<In>;
    using Ops = typename Chain::template Of<R, K>;
    constexpr bool grouped = Same<InLayout, Strided>::value || Same<OutLayout, Strided>::value;
    wait_for_previous();
    const int width = args.in_width, height = args.in_height, groups = grouped ? (args.channels + K - 1) / K : 1;
    const int across = (width + 3) / 4, pieces = across * height, run = (pieces + gridDim.x - 1) / gridDim.x;
    const int begin = blockIdx.x * run + threadIdx.x, end = min((blockIdx.x + 1) * run, pieces);
    const int rows = pointwise_threads / across, columns = pointwise_threads - rows * across;  // from a thread's group to its next
    __shared__ R field[Ops::fields + 1];

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * groups; slice += gridDim.z) {
        const long long frame = grouped ? slice / groups : slice, n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const int first = grouped ? static_cast<int>(slice - frame * groups) * K : 0, channels = args.channels - first;
        long long from[K], to[OutK];
        channel_offsets<InLayout, K>(args.in.c, channels, from);
        channel_offsets<OutLayout, OutK>(args.out.c, OutK == K ? channels : OutK, to);
        const int in_step = column_stride<InLayout, K>(args.in.x), out_step = column_stride<OutLayout, OutK>(args.out.x);
        const In* in = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t + first * args.in.c;
        Out* out = static_cast<Out*>(args.out.data) + n * args.out.n + t * args.out.t + first * args.out.c;
        if constexpr (Ops::fields > 0) {
            __syncthreads();
            for (int i = threadIdx.x; i < Ops::fields; i += pointwise_threads) field[i] = static_cast<R>(parameter(args, n, Ops::column(i, 0, first, args.channels)));
            __syncthreads();
            if (threadIdx.x == 0) Ops::prepare(field, R(white<In>));
            __syncthreads();
        }
        const Ops ops = Ops::of(field);
        // A group that can be moved as vectors is on its way, as it lies in memory, while the one before it is worked on: two at a time
        // take 80 registers, and 57 us where one takes 50.
        struct Group { int x, y; bool loaded; Vectors<In, K, 1> raw; } next;
        int y = begin / across, x = begin - y * across;
        auto at = [&](const Group& group) { return in + group.y * args.in.y + static_cast<long long>(4 * group.x) * in_step; };
        auto advance = [&](int i) {
            next.x = x;
            next.y = y;
            next.loaded = !Same<InLayout, Strided>::value && args.in_aligned && i < end && 4 * x + 3 < width;
            if (next.loaded) next.raw = load_vectors<InLayout, In, K>(at(next), from);
            y += rows;
            x += columns;
            if (x >= across) x -= across, ++y;
        };
        advance(begin);
#pragma unroll 1
        for (int i = begin; i < end; i += pointwise_threads) {
            const int left = 4 * next.x, top = next.y, count = min(4, width - left);
            const FourPixels<In, K> four = next.loaded ? gather<InLayout, In, K>(next.raw.of[0]) : load_pixels<Strided, In, K>(at(next), from, in_step, false, count);
            advance(i + pointwise_threads);

            Pixel<R, K> made[4];
            Where<R> where[4];
            for (int j = 0; j < 4; ++j) {
                where[j] = {left + j, top, width, height, R(white<In>), R(white<Out>), static_cast<int>(t) * groups + first / K};
                made[j] = shares<R>(four.v[j]);
            }
            ops.apply(made, where);
            FourPixels<Out, OutK> result;
            for (int j = 0; j < 4; ++j) {
                Pixel<R, OutK> pixel;
                for (int k = 0; k < OutK; ++k) pixel.c[k] = made[j].c[min(k, K - 1)];
                result.v[j] = packed_shares<Out>(pixel);
            }
            store_pixels<OutLayout, Out, OutK>(out + top * args.out.y + static_cast<long long>(left) * out_step, to, out_step, args.out_aligned, count, OutK == K ? channels : OutK, result);
        }
    }
}

}  // namespace cuaug
