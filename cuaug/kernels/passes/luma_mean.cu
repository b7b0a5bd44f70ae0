#include "ops/chain.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/reduce.cuh"
#include "gpu/vectors.cuh"
#include "ops/color.cuh"
#include "records/pointwise.cuh"

namespace cuaug {

constexpr int mean_threads = 512;

// What happens to the pixels that ops return: they are discarded, or stored in place of the input.
struct DiscardPixels {};
struct StoreInPlace {};

// A block computes the mean luma of one sample after a chain of ops, over all its frames; one channel is its own luma.
// The mean is a float64 in the range of the images' dtype, stored at out.data + n * out.n_stride. The order of the
// additions is always the same. Grid: (samples).
template <class In, class InLayout, int K, class Chain, class Epilogue = DiscardPixels>
__global__ void __launch_bounds__(mean_threads) luma_mean(const __grid_constant__ PointwiseRecord args) {
    using R = ComputeType<In>;
    __shared__ double sums[mean_threads / 32];
    const int lane = threadIdx.x & 31, step = column_stride<InLayout, K>(args.in.x_stride),
              groups_per_row = (args.in_width + 3) / 4;
    const long long n = blockIdx.x;
    long long offset[K];
    channel_offsets<InLayout, K>(args.in.c_stride, K, offset);
    using Ops = typename Chain::template For<R, K>;
    __shared__ R params[Ops::param_count + 1];
    if constexpr (Ops::param_count > 0) {
        for (int i = threadIdx.x; i < Ops::param_count; i += mean_threads)
            params[i] = static_cast<R>(parameter(args, n, Ops::column(i, 0, 0, K)));
        __syncthreads();
        if (threadIdx.x == 0) Ops::prepare(params, R(max_value<In>));
        __syncthreads();
    }

    double total = 0.0;
    for (int t = 0; t < args.frames; ++t) {
        const In* frame = static_cast<const In*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride;
        for (long long i = threadIdx.x; i < static_cast<long long>(groups_per_row) * args.in_height;
             i += mean_threads) {
            const int y = static_cast<int>(i / groups_per_row),
                      x = 4 * static_cast<int>(i - static_cast<long long>(y) * groups_per_row),
                      count = min(4, args.in_width - x);
            const In* at = frame + y * args.in.y_stride + static_cast<long long>(x) * step;
            R sum = R(0);
            const FourPixels<In, K> four =
                load_pixels<InLayout, In, K>(at, offset, step, args.in_vector_elements, count);
            Pixel<R, K> pixels[4];
            PixelContext<R> context[4];
            for (int j = 0; j < 4; ++j) {
                context[j] = {x + j, y, args.in_width, args.in_height, R(max_value<In>), R(max_value<In>), t};
                pixels[j] = to_unit_range<R>(four.v[j]);
            }
            Ops::of(params).apply(pixels, context);
            for (int j = 0; j < count; ++j) sum += K == 3 ? luma(pixels[j]) : pixels[j].c[0];
            if constexpr (is_same_v<Epilogue, StoreInPlace>) {
                FourPixels<In, K> result;
                for (int j = 0; j < 4; ++j) result.v[j] = pack_unit_range<In>(pixels[j]);
                store_pixels<InLayout, In, K>(const_cast<In*>(at), offset, step, args.in_vector_elements, count, K,
                                              result);
            }
            total += static_cast<double>(sum);
        }
    }
    total = warp_sum(total);
    if (lane == 0) sums[threadIdx.x >> 5] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < mean_threads / 32; ++i) total += sums[i];
        static_cast<double*>(args.out.data)[n * args.out.n_stride] =
            total * max_value<In> / (static_cast<double>(args.frames) * args.in_height * args.in_width);
    }
}

}  // namespace cuaug
