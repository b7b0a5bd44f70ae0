#include "gpu/batch_slice.cuh"
#include "gpu/thread_work.cuh"
#include "gpu/vectors.cuh"
#include "records/lut.cuh"

namespace cuaug {

// The tables of K channels. Each lane has copies of its own, in one bank, so that lookups have no bank conflicts. Byte
// b of row r is the entry of level r + 64 b.
template <int K>
struct LutCopies {
    static constexpr int rows = 64;

    Word words[K][rows][32];  // [channel][row][lane]

    // Called by all threads. `available`: the channels that exist; the others get the table of the last one.
    void fill(const uint8* table, const LutRecord& args, int available) {
        const int lane = threadIdx.x & 31;
        for (int part = threadIdx.x / 32; part < 2 * K; part += pointwise_threads / 32) {  // 32 rows
            const int k = part / 2, first_row = 32 * (part % 2);
            const uint8* entry =
                table + min(k, available - 1) * args.table_c_stride + (first_row + lane) * args.table_x_stride;
            Word row = 0;
            for (int b = 0; b < 4; ++b) row |= static_cast<Word>(entry[64 * b * args.table_x_stride]) << 8 * b;
            for (int i = 0; i < 32; ++i) words[k][first_row + i][lane] = __shfl_sync(0xffffffffu, row, i);
        }
    }

    // The pixel's entries.
    WordPixel<uint8, K> look_up(const WordPixel<uint8, K>& pixel) const {
        const uint8* const bytes = reinterpret_cast<const uint8*>(&words[0][0][threadIdx.x & 31]);
        Word entries[4] = {};
        for (int k = 0; k < K; ++k) {
            const Word level = __byte_perm(pixel.word[0], 0, 0x4440 + k);
            entries[k] = bytes[(level % rows + k * rows) * sizeof(words[0][0]) + level / rows];
        }
        return {{permute_bytes(permute_bytes(entries[0], entries[1], 0x40), permute_bytes(entries[2], entries[3], 0x40),
                               low_halves)}};
    }
};

// A block looks up a run of rows of a strip of columns, as in pointwise.cu. Grid: (strips, runs, samples x frames x
// groups of K channels).
template <class In, class InLayout, int K, class OutLayout>
__global__ void __launch_bounds__(pointwise_threads, has_static_channels<InLayout, OutLayout> ? 4 : 2)
    lut(const __grid_constant__ LutRecord args) {
    static_assert(is_same_v<In, uint8>);
    using Slice = BatchSlice<InLayout, OutLayout, K>;
    __shared__ LutCopies<K> copies;
    const FrameWalk<InLayout, OutLayout, K> walk(args, false);

    for (long long index = blockIdx.z; index < Slice::count(args); index += gridDim.z) {
        const Slice slice(args, index);
        __syncthreads();
        copies.fill(args.table + slice.n * args.table_n_stride + slice.first * args.table_c_stride, args,
                    slice.channels);
        __syncthreads();

        long long in_offsets[K], out_offsets[K];
        channel_offsets<InLayout, K>(args.in.c_stride, slice.channels, in_offsets);
        channel_offsets<OutLayout, K>(args.out.c_stride, slice.channels, out_offsets);
        const In* in = slice.template input<In>(args) + walk.in_first;
        In* out = slice.template output<In>(args) + walk.out_first;
        auto store = [&](FourPixels<In, K>& four) {
            for (int j = 0; j < 4; ++j) four.v[j] = copies.look_up(four.v[j]);
            store_pixels<OutLayout, In, K>(out, out_offsets, walk.out_step, args.out_vector_elements, walk.work.count,
                                           slice.channels, four);
            out += walk.out_advance;
        };
        int remaining = walk.work.steps;
#pragma unroll 1
        for (; remaining > 1; remaining -= 2, in += 2 * walk.in_advance) {
            FourPixels<In, K> groups[2];
            walk.load({in, in + walk.in_advance}, in_offsets, groups);
            store(groups[0]);
            store(groups[1]);
        }
        if (remaining > 0) {
            FourPixels<In, K> groups[1];
            walk.load({in}, in_offsets, groups);
            store(groups[0]);
        }
    }
}

}  // namespace cuaug
