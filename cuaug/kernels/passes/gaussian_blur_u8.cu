#include "gpu/blur_strip.cuh"

namespace cuaug {

// Per multiprocessor, by registers.
#if __CUDA_ARCH__ >= 900
template <int Step, class Out>
constexpr int blur_u8_blocks = Step > 1 || sizeof(Out) == 8 ? 16 : 24;
#else  // compute capability 8.6 holds no more
template <int Step, class Out>
constexpr int blur_u8_blocks = 16;
#endif

template <class InLayout, class OutLayout, int K>
constexpr int packed_channels = is_same_v<InLayout, Packed> && is_same_v<OutLayout, Packed> ? K : 1;

template <int Step>
struct BlurMemory {
    DigitTable<Step> weights_x;
    DigitTable<1> weights_y;
    // Of even and odd chunks: lanes may read a chunk while others write the next.
    SourceChunk<Step> sources[2];
    ResultChunk results[2];
};

// Stores the rows from `top` to `end` as they are.
template <int Step, class Out>
inline void copy_strip(const Strip<Step, Out>& strip, int top, int end) {
    constexpr int ahead = 4;  // chunks that are loaded before the first of them is stored
#pragma unroll 1
    for (int y = top; y < end; y += ahead * chunk_rows) {
        Word words[ahead][2];
        for (int i = 0; i < ahead; ++i) strip.load_eight(y + i * chunk_rows, words[i]);
        for (int i = 0; i < ahead && y + i * chunk_rows < end; ++i) {
            Word items[8];
            for (int j = 0; j < 8; ++j) items[j] = words[i][j / 4] >> 8 * (j % 4) << 24;
            strip.store(y + i * chunk_rows, items);
        }
    }
}

// Filters the rows from `top` to `end`. radius: elements that the horizontal filter reads on each side.
template <int Step, class Out>
inline void filter_strip(const Strip<Step, Out>& strip, int top, int end, int radius, BlurMemory<Step>& memory) {
    using Source = SourceChunk<Step>;
    constexpr int tiles = strip_length / 16, chunks_before = 3;  // chunks that only later rows need
    const int lane = strip.lane, chunks = (end - top + chunk_rows - 1) / chunk_rows + chunks_before;
    const bool mirrors = strip.left < radius || strip.left + strip_length + radius > strip.elements;
    const AcrossMatrix<Step> across(memory.weights_x, lane);
    const DownMatrix down(memory.weights_y, lane);
    // Rounds a byte to nearest; and half a unit of the rows, which are rounded down.
    constexpr int half = is_same_v<Out, uint8> ? (1 << 23) + (1 << 15) : 0;
    FilteredRows filtered[tiles] = {};
    SixteenBytes next[Source::groups_per_lane] = {};
    int y = top - max_mma_radius;  // of the chunk
    strip.load(y, next);
    // Filters a chunk, and stores the rows that the last one gave. chunk_in_four: `chunk` modulo 4.
    auto filter_chunk = [&](auto chunk_in_four, int chunk) {
        constexpr int newest = decltype(chunk_in_four)::value;
        Source& source = memory.sources[newest % 2];
        source.store(next, lane);
        strip.load(y + chunk_rows, next);
        __syncwarp();
        if (mirrors) {
            source.mirror(strip.left, strip.elements, radius, lane);
            __syncwarp();
        }
        Word groups[Source::groups];
        for (int i = 0; i < Source::groups; ++i) groups[i] = source.four(i, lane);
        Accumulators sums[tiles][2];
        for (int i = 0; i < tiles; ++i)
            for (int digit = 0; digit < 2; ++digit) sums[i][digit] = across.filter(digit, groups + i);
        if (chunk > chunks_before)
            strip.store(y + max_mma_radius - (chunks_before + 1) * chunk_rows,
                        memory.results[(newest + 1) % 2].eight(lane));
        for (int i = 0; i < tiles; ++i) filtered[i].put(sums[i][0], sums[i][1], newest);
        for (int i = 0; i < tiles && chunk >= chunks_before; ++i)
            memory.results[newest % 2].store(filtered[i].filter_down(down, newest, half), i, lane);
        y += chunk_rows;
    };
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; chunk += 4) {
        filter_chunk(Int<0>(), chunk);
        if (chunk + 1 < chunks) filter_chunk(Int<1>(), chunk + 1);
        if (chunk + 2 < chunks) filter_chunk(Int<2>(), chunk + 2);
        if (chunk + 3 < chunks) filter_chunk(Int<3>(), chunk + 3);
    }
    __syncwarp();
    strip.store(y + max_mma_radius - (chunks_before + 1) * chunk_rows, memory.results[(chunks - 1) % 2].eight(lane));
}

// Blurs bytes with a kernel of at most 2 * max_mma_radius + 1 pixels on each axis, smaller than twice the image: by
// integer matrix products, on tensor cores. Weights are multiples of 2^-16, and the rows between the two filters are
// rounded down to multiples of 2^-8 of a level; all else is exact.
//
// A block is a warp. It makes `tile_height` rows of a strip of 32 elements, of packed pixels or of one channel, in
// chunks of eight rows. It filters a chunk of the source horizontally, keeps the results of four chunks in registers,
// and filters these vertically. Grid: (strips x planes, runs of rows, frames x groups of K).
template <class In, class InLayout, int K, class Out, class OutLayout>
__global__ void __launch_bounds__(32, blur_u8_blocks<packed_channels<InLayout, OutLayout, K>, Out>)
    gaussian_blur_u8(const __grid_constant__ GaussianBlurRecord args) {
    static_assert(is_same_v<In, uint8>);
    constexpr bool split_channels = is_same_v<InLayout, Strided> || is_same_v<OutLayout, Strided>;
    constexpr int step = packed_channels<InLayout, OutLayout, K>, planes = K / step;
    constexpr bool in_is_dense = step > 1 || is_same_v<InLayout, Planar>,
                   out_is_dense = step > 1 || is_same_v<OutLayout, Planar>;
    __shared__ alignas(16) BlurMemory<step> memory;

    const int lane = threadIdx.x, strip_index = blockIdx.x / planes, plane = blockIdx.x - planes * strip_index,
              channel_groups = split_channels ? (args.channels + K - 1) / K : 1;
    const int top = blockIdx.y * args.tile_height, end = min(top + args.tile_height, args.in_height);
    const int radius_x = args.kernel_width / 2, radius_y = args.kernel_height / 2;
    Strip<step, Out> strip(
        args, strip_index * strip_length, lane, step > 1 ? 1 : column_stride<InLayout, K>(args.in.x_stride),
        in_is_dense ? args.in_vector_elements : 0, step > 1 ? 1 : column_stride<OutLayout, K>(args.out.x_stride),
        out_is_dense ? args.out_vector_elements : 0);

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * channel_groups; slice += gridDim.z) {
        const long long frame = split_channels ? slice / channel_groups : slice,
                        n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const int channel = (split_channels ? static_cast<int>(slice - frame * channel_groups) * K : 0) + plane;
        if (channel >= args.channels) continue;
        strip.set_image(static_cast<const uint8*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride +
                            channel * args.in.c_stride,
                        static_cast<Out*>(args.out.data) + n * args.out.n_stride + t * args.out.t_stride +
                            channel * args.out.c_stride);
        const bool keeps_x = memory.weights_x.compute(radius_x, sigma_of(args, n, 0), lane),
                   keeps_y = memory.weights_y.compute(radius_y, sigma_of(args, n, 1), lane);
        if (keeps_x && keeps_y)
            copy_strip(strip, top, end);
        else
            filter_strip(strip, top, end, step * radius_x, memory);
    }
}

}  // namespace cuaug
