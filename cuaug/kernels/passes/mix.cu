#include "ops/chain.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"
#include "ops/mixes/cutmix.cuh"
#include "ops/mixes/mixup.cuh"
#include "records/pointwise.cuh"

namespace cuaug {

constexpr int mix_threads = 256;

// A thread makes four adjacent pixels of K channels from those of two samples. Grid: (blocks for a frame, 1, frames x
// groups of K).
template <class T, class InLayout, int K, template <class, int> class Mix, class OutLayout>
__global__ void __launch_bounds__(mix_threads) mix(const __grid_constant__ PointwiseRecord args) {
    using R = ComputeType<T>;
    constexpr bool split_channels = is_same_v<InLayout, Strided> || is_same_v<OutLayout, Strided>;
    const int width = args.in_width, height = args.in_height,
              channel_groups = split_channels ? (args.channels + K - 1) / K : 1;
    const unsigned int groups_per_row = (width + 3) / 4, index = blockIdx.x * mix_threads + threadIdx.x;
    const int y = index / groups_per_row, x = 4 * (index - y * groups_per_row);
    if (y >= height) return;

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * channel_groups; slice += gridDim.z) {
        const long long frame = split_channels ? slice / channel_groups : slice,
                        n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const int first_channel = split_channels ? static_cast<int>(slice - frame * channel_groups) * K : 0,
                  channels = args.channels - first_channel, count = min(4, width - x);
        long long in_offsets[K], out_offsets[K];
        channel_offsets<InLayout, K>(args.in.c_stride, channels, in_offsets);
        channel_offsets<OutLayout, K>(args.out.c_stride, channels, out_offsets);
        const int in_step = column_stride<InLayout, K>(args.in.x_stride),
                  out_step = column_stride<OutLayout, K>(args.out.x_stride);
        const long long frame_offset = t * args.in.t_stride + first_channel * args.in.c_stride + y * args.in.y_stride +
                                       static_cast<long long>(x) * in_step;
        const T* in = static_cast<const T*>(args.in.data) + frame_offset;
        T* out = static_cast<T*>(args.out.data) + n * args.out.n_stride + t * args.out.t_stride +
                 first_channel * args.out.c_stride + y * args.out.y_stride + static_cast<long long>(x) * out_step;
        // Column 0 of the parameters is the partner (partner_of); those of the op begin in column 1.
        const auto op = op_of<Mix<R, K>, R, K>([&](int i) { return parameter(args, n, i); }, 1, first_channel,
                                               args.channels, R(max_value<T>));

        const FourPixels<T, K> pixels =
            load_pixels<InLayout, T, K>(in + n * args.in.n_stride, in_offsets, in_step, args.in_vector_elements, count);
        const FourPixels<T, K> partner_pixels = load_pixels<InLayout, T, K>(
            in + partner_of(args, n) * args.in.n_stride, in_offsets, in_step, args.in_vector_elements, count);
        FourPixels<T, K> result;
        for (int j = 0; j < 4; ++j) {
            const PixelContext<R> context = {x + j, y, width, height, R(max_value<T>), R(max_value<T>)};
            result.v[j] = saturate_pack<T>(op(to_pixel<R>(pixels.v[j]), to_pixel<R>(partner_pixels.v[j]), context));
        }
        store_pixels<OutLayout, T, K>(out, out_offsets, out_step, args.out_vector_elements, count, channels, result);
    }
}

}  // namespace cuaug
