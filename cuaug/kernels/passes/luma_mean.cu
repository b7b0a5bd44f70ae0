#include "ops/chain.cuh"
#include "gpu/programmatic_launch.cuh"
#include "gpu/reduce.cuh"
#include "gpu/thread_work.cuh"
#include "ops/color.cuh"

namespace cuaug {

// What happens to the pixels that ops return: they are discarded, or stored in place of the input.
struct DiscardPixels {};
struct StoreInPlace {};

// The sum of the luma of a thread's groups of four pixels in one frame, after a chain of ops; one channel is its own
// luma. `in`: the thread's first group; `advance`: from a group to the next, in elements. The next group is loaded
// before this one is processed.
template <class InLayout, class Epilogue, class In, int K, class Ops>
inline double sum_luma(const PointwiseRecord& args, const Ops& ops, const In* in, const long long (&offset)[K],
                       const ThreadWork& work, long long advance, int t) {
    using R = ComputeType<In>;
    constexpr bool loads_ahead = sizeof(In) <= 4;  // of float64, two groups would take too many registers
    constexpr int steps_per_flush = 16;            // a float32 sum of more groups would lose bits
    const int x_stride = column_stride<InLayout, K>(args.in.x_stride);
    const bool vectors = !is_same_v<InLayout, Strided> && args.in_vector_elements && work.count == 4;
    double total = 0.0;
    R sum = R(0);
    Vectors<In, K, 1> raw;
    if (loads_ahead && vectors && work.steps > 0) raw = load_vectors<InLayout, In, K>(in, offset);
#pragma unroll 1
    for (int remaining = work.steps, y = work.y; remaining > 0; --remaining, y += work.row_step) {
        if (!loads_ahead && vectors) raw = load_vectors<InLayout, In, K>(in, offset);
        const FourPixels<In, K> four = vectors ? elements_to_pixels<InLayout, In, K>(raw.elements[0])
                                               : load_pixels<Strided, In, K>(in, offset, x_stride, false, work.count);
        In* const group = const_cast<In*>(in);
        in += advance;
        if (loads_ahead && vectors && remaining > 1) raw = load_vectors<InLayout, In, K>(in, offset);

        Pixel<R, K> pixels[4];
        PixelContext<R> context[4];
        for (int j = 0; j < 4; ++j) {
            context[j] = {work.x + j, y, args.in_width, args.in_height, R(max_value<In>), R(max_value<In>), t};
            pixels[j] = to_unit_range<R>(four.v[j]);
        }
        ops.apply(pixels, context);
        for (int j = 0; j < 4; ++j)
            if (j < work.count) sum += K == 3 ? luma(pixels[j]) : pixels[j].c[0];
        if constexpr (is_same_v<Epilogue, StoreInPlace>)
            store_unit_range<InLayout, In, is_same_v<In, uint8> && Ops::keeps_unit_range>(
                group, offset, x_stride, args.in_vector_elements, work.count, K, pixels);
        if (remaining % steps_per_flush == 1) {
            total += static_cast<double>(sum);
            sum = R(0);
        }
    }
    return total;
}

// A factor of __dp4a for word i of a group of four pixels: 1 in the bytes of channel k, 0 in the others.
template <class Layout, int K>
constexpr Word channel_bytes(int i, int k) {
    if constexpr (!is_same_v<Layout, Packed>) return i == k ? 0x01010101 : 0;
    Word out = 0;
    for (int j = 0; j < 4; ++j)
        if ((4 * i + j) % K == k) out |= 1u << 8 * j;
    return out;
}

// As `sum_luma`, for bytes without ops: an instruction adds up to four bytes of a channel.
template <class InLayout, int K>
inline double sum_luma_of_bytes(const PointwiseRecord& args, const uint8* in, const long long (&offset)[K],
                                const ThreadWork& work, long long advance) {
    constexpr int ahead = 4, steps_per_flush = 1 << 22;  // 4 * 255 * steps_per_flush < 2^32
    const int x_stride = column_stride<InLayout, K>(args.in.x_stride);
    const bool vectors = !is_same_v<InLayout, Strided> && args.in_vector_elements && work.count == 4;
    Pixel<double, K> total = {};
    for (int step = 0; step < work.steps;) {
        Word sums[K] = {};
        const int end = min(work.steps, step + steps_per_flush);
        if (vectors) {
#pragma unroll 1
            for (; step < end; step += ahead, in += ahead * advance) {
                Vectors<uint8, K, 1> groups[ahead] = {};
                for (int i = 0; i < ahead; ++i)
                    if (step + i < end) groups[i] = load_vectors<InLayout, uint8, K>(in + i * advance, offset);
                for (int i = 0; i < ahead; ++i)
                    for (int word = 0; word < K; ++word)
                        for (int k = 0; k < K; ++k)
                            if (channel_bytes<InLayout, K>(word, k) != 0)
                                sums[k] = __dp4a(groups[i].elements[0][word].word[0],
                                                 channel_bytes<InLayout, K>(word, k), sums[k]);
            }
        } else {
#pragma unroll 1
            for (; step < end; ++step, in += advance)
                for (int j = 0; j < 4; ++j)
                    for (int k = 0; k < K && j < work.count; ++k)
                        sums[k] += in[offset[k] + static_cast<long long>(j) * x_stride];
        }
        for (int k = 0; k < K; ++k) total.c[k] += sums[k];
    }
    return (K == 3 ? luma(total) : total.c[0]) / 255;
}

// A block adds up a run of rows of a strip of columns (gpu/thread_work.cuh), or of a contiguous frame, over all frames
// of a sample. It stores its part of the sample's mean, a float64 in the range of the images' dtype, at out.data + n *
// out.n_stride + the number of the block. The order of the additions is always the same. A strip has at most as
// many groups as a block has threads; if that takes more strips than gridDim.x, a block makes several. Grid: (strips,
// runs, samples).
template <class In, class InLayout, int K, class Chain, class Epilogue = DiscardPixels>
__global__ void __launch_bounds__(pointwise_threads, (sizeof(ComputeType<In>) > 4 ? 1 : 4))
    luma_mean(const __grid_constant__ PointwiseRecord args) {
    using R = ComputeType<In>;
    using Ops = typename Chain::template For<R, K>;
    __shared__ R params[Ops::param_count + 1];
    __shared__ double sums[pointwise_threads / 32];
    wait_for_previous();
    allow_next_launch();
    const int width = args.in_width, height = args.in_height, x_stride = column_stride<InLayout, K>(args.in.x_stride);
    const long long pixels = static_cast<long long>(width) * height;
    const bool is_contiguous =
        !Ops::uses_position && pixels % 4 == 0 && args.in.y_stride == static_cast<long long>(width) * x_stride;
    const long long row_stride = is_contiguous ? 4LL * pointwise_threads * x_stride : args.in.y_stride;
    const int groups_per_row = is_contiguous ? 1 : (width + 3) / 4,
              strips = max(gridDim.x, (groups_per_row + pointwise_threads - 1) / pointwise_threads),
              strip_groups = (groups_per_row + strips - 1) / strips,
              first_group = is_contiguous ? 0 : strip_groups * blockIdx.x;
    long long offset[K];
    channel_offsets<InLayout, K>(args.in.c_stride, K, offset);

    for (long long n = blockIdx.z; n < args.samples; n += gridDim.z) {
        if constexpr (Ops::param_count > 0) {
            __syncthreads();
            if (threadIdx.x < 32) read_params<Ops>(args, n, 0, params, R(max_value<In>));
            __syncthreads();
        }
        const Ops ops = Ops::of(params);
        // Neither the sum nor changed pixels are needed.
        const bool is_skipped = !ops.needs_mean() && (is_same_v<Epilogue, DiscardPixels> || ops.is_identity());
        const In* sample = static_cast<const In*>(args.in.data) + n * args.in.n_stride;
        double total = 0.0;
        for (int i = is_skipped ? groups_per_row : first_group; i < groups_per_row; i += strip_groups * gridDim.x) {
            const ThreadWork work = is_contiguous
                                        ? work_on_contiguous_frame(pixels)
                                        : work_in_strip(i, min(strip_groups, groups_per_row - i), width, height);
            const long long first = work.y * row_stride + static_cast<long long>(work.x) * x_stride,
                            advance = opaque(work.row_step * row_stride);  // or the compiler computes it for each group
            for (int t = 0; t < args.frames; ++t) {
                const In* group = sample + t * args.in.t_stride + first;
                if constexpr (is_same_v<In, uint8> && Chain::empty)
                    total += sum_luma_of_bytes<InLayout>(args, group, offset, work, advance);
                else
                    total += sum_luma<InLayout, Epilogue>(args, ops, group, offset, work, advance, t);
            }
        }
        store_block_sum(
            total, sums, max_value<In> / (static_cast<double>(args.frames) * pixels),
            static_cast<double*>(args.out.data) + n * args.out.n_stride + blockIdx.y * gridDim.x + blockIdx.x);
        __syncthreads();  // before the next sample's sums
    }
}

}  // namespace cuaug
