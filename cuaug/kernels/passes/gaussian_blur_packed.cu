#include "gpu/batch_slice.cuh"
#include "gpu/packed_blur_strip.cuh"

namespace cuaug {

template <int K, class Ops>
struct PackedBlurMemory {
    DigitTable<1> weights_x, weights_y;
    Ops ops;
    VerticalDigits vertical[4][32];  // [slot of the newest chunk][lane]
    bool keeps_pixels;               // neither filter changes a pixel
    // Of even and odd chunks: threads may read a chunk while others write the next.
    PackedSourceChunk<K> sources[2];
    PackedResultChunk<K> results[2];
};

// Computes all members but the chunks, for sample n. Called by all lanes of one warp.
template <int K, class Ops>
inline void prepare_sample(PackedBlurMemory<K, Ops>& memory, const GaussianBlurRecord& args, long long n, int lane) {
    const bool keeps_x = memory.weights_x.compute(args.kernel_width / 2, sigma_of(args, n, 0), lane),
               keeps_y = memory.weights_y.compute(args.kernel_height / 2, sigma_of(args, n, 1), lane);
    memory.keeps_pixels = keeps_x && keeps_y;
    for (int newest = 0; newest < 4; ++newest)
        memory.vertical[newest][lane] = VerticalDigits(memory.weights_y, newest, lane);
    memory.ops.read(args.op_parameters, args.channels, n, 0, lane);
}

// Filters the rows from `top` to `end`. radius: of the horizontal filter, in pixels.
template <int K, class Out, class Ops>
inline void filter_strip(const PackedStrip<K, Out>& strip, int top, int end, int radius, int thread,
                         PackedBlurMemory<K, Ops>& memory) {
    using Source = PackedSourceChunk<K>;
    constexpr int tiles = strip_width / 16;
    constexpr int lead_chunks = 3;  // before there is a result, which is made of four chunks
    const int lane = thread & 31, channel = thread >> 5, width = strip.rows.elements / K,
              chunks = (end - top + chunk_rows - 1) / chunk_rows + lead_chunks;
    const bool mirrors = strip.left < radius || strip.left + strip_width + radius > width;
    const ChannelBytes<K> channel_bytes(channel);
    const HorizontalDigits horizontal(memory.weights_x, lane);
    FilteredChunks filtered[tiles] = {};
    SixteenBytes next = {};        // the thread's elements of the next chunk; 0 outside the row, as nothing is loaded
    int y = top - max_mma_radius;  // the row of the image where the chunk to filter begins
    strip.load(y, next);
    // Filters a chunk, and stores the rows that the previous call has made. slot_constant: `chunk` modulo 4.
    auto filter_chunk = [&](auto slot_constant, int chunk) {
        constexpr int slot = decltype(slot_constant)::value;
        Source& source = memory.sources[slot % 2];
        source.store(next, strip.part);
        strip.load(y + chunk_rows, next);
        __syncthreads();
        if (mirrors) {
            source.mirror(strip.left, width, radius, thread);
            __syncthreads();
        }
        Word words[Source::groups];
        for (int i = 0; i < Source::groups; ++i) words[i] = source.lane_word(channel_bytes, i, lane);
        for (int i = 0; i < tiles; ++i)
            filtered[i].put(horizontal.filter(0, words + i), horizontal.filter(1, words + i), slot);
        if (chunk > lead_chunks)
            strip.store(y + max_mma_radius - (lead_chunks + 1) * chunk_rows,
                        memory.results[(slot + 1) % 2].values(strip.part), memory.ops);
        if (chunk >= lead_chunks) {
            const VerticalDigits vertical = memory.vertical[slot][lane];
            for (int i = 0; i < tiles; ++i)
                memory.results[slot % 2].store(filtered[i].filter(vertical), channel, i, lane);
        }
        y += chunk_rows;
    };
#pragma unroll 1
    for (int chunk = 0; chunk < chunks; chunk += 4) {
        filter_chunk(Int<0>(), chunk);
        if (chunk + 1 < chunks) filter_chunk(Int<1>(), chunk + 1);
        if (chunk + 2 < chunks) filter_chunk(Int<2>(), chunk + 2);
        if (chunk + 3 < chunks) filter_chunk(Int<3>(), chunk + 3);
    }
    __syncthreads();
    strip.store(y + max_mma_radius - (lead_chunks + 1) * chunk_rows,
                memory.results[(chunks - 1) % 2].values(strip.part), memory.ops);
}

// Blurs packed pixels as gaussian_blur_u8 does, with equal results, but a block has a warp for each channel: if a warp
// filtered all channels, the elements of the others would lie between those of a channel, so that its horizontal
// matrices would be up to K times as long, and mostly 0. The block makes `tile_height` rows of a strip of 32 columns;
// its threads load and store the rows of packed pixels together. Grid: (strips, runs of rows, slices: samples x
// frames).
template <class In, class InLayout, int K, class Chain, class Out, class OutLayout>
__global__ void __launch_bounds__(32 * K, (resident_warps<ChannelOps<Chain, In, Out, K>> / K))
    gaussian_blur_packed(const __grid_constant__ GaussianBlurRecord args) {
    static_assert(is_same_v<In, uint8> && is_same_v<InLayout, Packed> && is_same_v<OutLayout, Packed>);
    using Slice = BatchSlice<InLayout, OutLayout, K>;
    __shared__ alignas(16) PackedBlurMemory<K, ChannelOps<Chain, In, Out, K>> memory;

    const int top = blockIdx.y * args.tile_height, end = min(top + args.tile_height, args.in_height);

    for (long long index = blockIdx.z; index < Slice::count(args); index += gridDim.z) {
        const Slice slice(args, index);
        // Without `opaque` the compiler keeps addresses from slice to slice, in local memory.
        const int thread = opaque(static_cast<int>(threadIdx.x));
        const PackedStrip<K, Out> strip(args, strip_width * blockIdx.x, thread, slice.template input<uint8>(args),
                                        slice.template output<Out>(args));
        if (thread < 32) prepare_sample(memory, args, slice.n, thread);
        __syncthreads();
        if (memory.keeps_pixels)
            copy_strip(strip, top, end, memory.ops);
        else  // radius at least 1: the table of a filter that changes nothing has a weight at pixel 1 (`DigitTable`)
            filter_strip(strip, top, end, max(args.kernel_width / 2, 1), thread, memory);
        __syncthreads();
    }
}

}  // namespace cuaug
