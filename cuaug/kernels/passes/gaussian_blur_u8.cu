#include "gpu/batch_slice.cuh"
#include "gpu/blur_strip.cuh"

namespace cuaug {

// Elements of a pixel in a strip: K if input and result are packed; otherwise 1, as each channel is a plane.
template <class InLayout, class OutLayout, int K>
constexpr int packed_channels = is_same_v<InLayout, Packed> && is_same_v<OutLayout, Packed> ? K : 1;

template <int Step, class Ops>
struct BlurMemory {
    DigitTable<Step> weights_x;
    DigitTable<1> weights_y;
    Ops ops;
    // Of even and odd chunks: lanes may read a chunk while others write the next.
    SourceChunk<Step> sources[2];
    ResultChunk results[2];
};

// Filters the rows from `top` to `end`. radius: of the horizontal filter, in elements.
template <int Step, class Out, class Ops>
inline void filter_strip(const Strip<Step, Out>& strip, int top, int end, int radius, BlurMemory<Step, Ops>& memory) {
    using Source = SourceChunk<Step>;
    constexpr int tiles = strip_width / 16;
    constexpr int lead_chunks = 3;  // before there is a result, which is made of four chunks
    const int lane = strip.lane, chunks = (end - top + chunk_rows - 1) / chunk_rows + lead_chunks;
    const bool mirrors = strip.left < radius || strip.left + strip_width + radius > strip.rows.elements;
    const HorizontalDigits horizontal(memory.weights_x, lane);
    const VerticalDigits vertical[] = {{memory.weights_y, 0, lane},
                                       {memory.weights_y, 1, lane},
                                       {memory.weights_y, 2, lane},
                                       {memory.weights_y, 3, lane}};
    FilteredChunks filtered[tiles] = {};
    SixteenBytes next = {};        // the lane's elements of the next chunk; 0 outside the row, as nothing is loaded
    int y = top - max_mma_radius;  // the row of the image where the chunk to filter begins
    strip.load(y, next);
    // Filters a chunk, and stores the rows that the previous call has made. slot_constant: `chunk` modulo 4.
    auto filter_chunk = [&](auto slot_constant, int chunk) {
        constexpr int slot = decltype(slot_constant)::value;
        Source& source = memory.sources[slot % 2];
        source.store(next, lane);
        strip.load(y + chunk_rows, next);
        __syncwarp();
        if (mirrors) {
            source.mirror(strip.left, strip.rows.elements, radius, lane);
            __syncwarp();
        }
        Word words[Source::groups];
        for (int i = 0; i < Source::groups; ++i) words[i] = source.lane_word(i, lane);
        Accumulators sums[tiles][2];
        for (int i = 0; i < tiles; ++i)
            for (int digit = 0; digit < 2; ++digit) sums[i][digit] = horizontal.filter(digit, words + i);
        if (chunk > lead_chunks)
            strip.store(y + max_mma_radius - (lead_chunks + 1) * chunk_rows,
                        memory.results[(slot + 1) % 2].lane_values(lane), memory.ops);
        for (int i = 0; i < tiles; ++i) filtered[i].put(sums[i][0], sums[i][1], slot);
        for (int i = 0; i < tiles && chunk >= lead_chunks; ++i)
            memory.results[slot % 2].store(filtered[i].filter(vertical[slot]), i, lane);
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
    strip.store(y + max_mma_radius - (lead_chunks + 1) * chunk_rows, memory.results[(chunks - 1) % 2].lane_values(lane),
                memory.ops);
}

// Blurs bytes by integer matrix products, on tensor cores: with kernels of at most 2 * max_mma_radius + 1 pixels on
// each axis, smaller than twice the image. Products and sums are exact. Three values are rounded: the weights, to
// multiples of 2^-16; the rows between the two filters, to multiples of 2^-8 of a level; and the result, before the
// ops of the chain.
//
// A block is a warp. It makes `tile_height` rows of a strip of packed pixels, or of one channel, in chunks of eight
// rows. It filters a chunk of the source horizontally, keeps the results of four chunks in registers, and filters these
// vertically. Grid: (strips x planes, runs of rows, slices: samples x frames x groups of K channels).
template <class In, class InLayout, int K, class Chain, class Out, class OutLayout>
__global__ void __launch_bounds__(32, (resident_warps<ChannelOps<Chain, In, Out, K>>))
    gaussian_blur_u8(const __grid_constant__ GaussianBlurRecord args) {
    static_assert(is_same_v<In, uint8>);
    using Slice = BatchSlice<InLayout, OutLayout, K>;
    constexpr int step = packed_channels<InLayout, OutLayout, K>, planes = K / step;
    constexpr bool in_is_dense = step > 1 || is_same_v<InLayout, Planar>,
                   out_is_dense = step > 1 || is_same_v<OutLayout, Planar>;
    using Ops = ChannelOps<Chain, In, Out, step>;
    __shared__ alignas(16) BlurMemory<step, Ops> memory;

    const int strip_index = blockIdx.x / planes, plane = blockIdx.x - planes * strip_index;
    const int top = blockIdx.y * args.tile_height, end = min(top + args.tile_height, args.in_height);
    const int radius_x = args.kernel_width / 2, radius_y = args.kernel_height / 2;
    const SourceRows rows = {step * args.in_width, step > 1 ? 1 : column_stride<InLayout, K>(args.in.x_stride),
                             in_is_dense ? args.in_vector_elements : 0};

    for (long long index = blockIdx.z; index < Slice::count(args); index += gridDim.z) {
        const Slice slice(args, index);
        if (plane >= slice.channels) continue;
        // With parameters of ops, the compiler would keep addresses from slice to slice, in local memory.
        const int lane = Ops::has_parameters ? opaque(static_cast<int>(threadIdx.x)) : threadIdx.x;
        const Strip<step, Out> strip(
            args, strip_index * strip_width, lane, rows, step > 1 ? 1 : column_stride<OutLayout, K>(args.out.x_stride),
            out_is_dense ? args.out_vector_elements : 0, slice.template input<uint8>(args) + plane * args.in.c_stride,
            slice.template output<Out>(args) + plane * args.out.c_stride);
        const bool keeps_x = memory.weights_x.compute(radius_x, sigma_of(args, slice.n, 0), lane),
                   keeps_y = memory.weights_y.compute(radius_y, sigma_of(args, slice.n, 1), lane);
        memory.ops.read(args.op_parameters, args.channels, slice.n, slice.first + plane, lane);
        __syncwarp();
        if (keeps_x && keeps_y)
            copy_strip(strip, top, end, memory.ops);
        else  // radius at least 1: the table of a filter that changes nothing has a weight at pixel 1 (`DigitTable`)
            filter_strip(strip, top, end, step * max(radius_x, 1), memory);
    }
}

}  // namespace cuaug
