#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"
#include "records/lut.cuh"

namespace cuaug {

constexpr int lut_threads = 512, lut_steps = 4;

// A block looks up pixels of a uint8 frame: a thread four adjacent ones of K channels, `lut_steps` times. Each lane has
// a copy of the table in its own bank, so that lookups have no bank conflicts. Grid: (blocks for a frame, 1, frames x
// groups of K).
template <class In, class InLayout, int K, class OutLayout>
__global__ void __launch_bounds__(lut_threads) lut(const __grid_constant__ LutRecord args) {
    constexpr bool split_channels = is_same_v<InLayout, Strided> || is_same_v<OutLayout, Strided>;
    __shared__ Word copies[K][64][32];
    const int lane = threadIdx.x & 31, width = args.in_width,
              channel_groups = split_channels ? (args.channels + K - 1) / K : 1;
    const unsigned int groups_per_row = (width + 3) / 4;
    const long long frame_groups = static_cast<long long>(groups_per_row) * args.in_height,
                    begin = static_cast<long long>(blockIdx.x) * lut_threads * lut_steps;
    const int in_step = column_stride<InLayout, K>(args.in.x_stride),
              out_step = column_stride<OutLayout, K>(args.out.x_stride);
    const In* lane_table[K];
    for (int k = 0; k < K; ++k) lane_table[k] = reinterpret_cast<const In*>(copies[k]) + 4 * lane;

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * channel_groups; slice += gridDim.z) {
        const long long frame = split_channels ? slice / channel_groups : slice,
                        n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const int first_channel = split_channels ? static_cast<int>(slice - frame * channel_groups) * K : 0,
                  channels = args.channels - first_channel;
        const In* table = args.table + n * args.table_n_stride + first_channel * args.table_c_stride;
        __syncthreads();
        for (int k = 0; k < K; ++k)
            for (int i = threadIdx.x / 32; i < 64; i += lut_threads / 32) {
                const In* four = table + min(k, channels - 1) * args.table_c_stride + 4 * i * args.table_x_stride;
                Word word = 0;
                for (int j = 0; j < 4; ++j) word |= static_cast<Word>(four[j * args.table_x_stride]) << 8 * j;
                copies[k][i][lane] = word;
            }
        __syncthreads();

        long long in_offsets[K], out_offsets[K];
        channel_offsets<InLayout, K>(args.in.c_stride, channels, in_offsets);
        channel_offsets<OutLayout, K>(args.out.c_stride, channels, out_offsets);
        const In* in = static_cast<const In*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride +
                       first_channel * args.in.c_stride;
        In* out = static_cast<In*>(args.out.data) + n * args.out.n_stride + t * args.out.t_stride +
                  first_channel * args.out.c_stride;
        for (int step = 0; step < lut_steps; ++step) {
            const long long group = begin + step * lut_threads + threadIdx.x;
            if (group >= frame_groups) break;
            const unsigned int index = static_cast<unsigned int>(group);
            const int y = index / groups_per_row, x = 4 * (index - y * groups_per_row), count = min(4, width - x);
            FourPixels<In, K> pixels =
                load_pixels<InLayout, In, K>(in + y * args.in.y_stride + static_cast<long long>(x) * in_step,
                                             in_offsets, in_step, args.in_vector_elements, count);
            for (int j = 0; j < 4; ++j) {
                RawPixel<In, K> raw_pixel = to_raw_pixel(pixels.v[j]);
                for (int k = 0; k < K; ++k)
                    raw_pixel.c[k] = lane_table[k][(raw_pixel.c[k] & ~3) * 32 + (raw_pixel.c[k] & 3)];
                pixels.v[j] = to_word_pixel(raw_pixel);
            }
            store_pixels<OutLayout, In, K>(out + y * args.out.y_stride + static_cast<long long>(x) * out_step,
                                           out_offsets, out_step, args.out_vector_elements, count, channels, pixels);
        }
    }
}

}  // namespace cuaug
