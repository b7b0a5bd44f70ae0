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
            const uint8* level =
                table + min(k, available - 1) * args.table_c_stride + (first_row + lane) * args.table_x_stride;
            Word row = 0;
            for (int b = 0; b < 4; ++b) row |= static_cast<Word>(level[64 * b * args.table_x_stride]) << 8 * b;
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

// A block looks up a run of rows of a strip of columns, as in pointwise.cu. Grid: (strips, runs, frames x groups of K
// channels).
template <class In, class InLayout, int K, class OutLayout>
__global__ void __launch_bounds__(pointwise_threads, has_static_channels<InLayout, OutLayout> ? 4 : 1)
    lut(const __grid_constant__ LutRecord args) {
    static_assert(is_same_v<In, uint8>);
    constexpr bool split_channels = !has_static_channels<InLayout, OutLayout>;
    __shared__ LutCopies<K> copies;
    const int width = args.in_width, channel_groups = split_channels ? (args.channels + K - 1) / K : 1;
    const int in_step = column_stride<InLayout, K>(args.in.x_stride),
              out_step = column_stride<OutLayout, K>(args.out.x_stride);
    const long long pixels = static_cast<long long>(width) * args.in_height;
    const bool is_contiguous = pixels % 4 == 0 && args.in.y_stride == static_cast<long long>(width) * in_step &&
                               args.out.y_stride == static_cast<long long>(width) * out_step;
    ThreadWork work;
    if (is_contiguous)
        work = work_on_contiguous_frame(pixels);
    else
        work = work_in_strips(width, args.in_height);
    const int count = work.count;
    const long long in_row = is_contiguous ? 4LL * pointwise_threads * in_step : args.in.y_stride,
                    out_row = is_contiguous ? 4LL * pointwise_threads * out_step : args.out.y_stride;
    const long long in_advance = opaque(work.row_step * in_row), out_advance = opaque(work.row_step * out_row);
    const bool vectors = !is_same_v<InLayout, Strided> && args.in_vector_elements && count == 4;

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * channel_groups; slice += gridDim.z) {
        const long long frame = split_channels ? slice / channel_groups : slice,
                        n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const int first_channel = split_channels ? static_cast<int>(slice - frame * channel_groups) * K : 0,
                  channels = args.channels - first_channel;
        __syncthreads();
        copies.fill(args.table + n * args.table_n_stride + first_channel * args.table_c_stride, args, channels);
        __syncthreads();

        long long in_offsets[K], out_offsets[K];
        channel_offsets<InLayout, K>(args.in.c_stride, channels, in_offsets);
        channel_offsets<OutLayout, K>(args.out.c_stride, channels, out_offsets);
        const In* in = static_cast<const In*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride +
                       first_channel * args.in.c_stride + work.y * in_row + static_cast<long long>(work.x) * in_step;
        In* out = static_cast<In*>(args.out.data) + n * args.out.n_stride + t * args.out.t_stride +
                  first_channel * args.out.c_stride + work.y * out_row + static_cast<long long>(work.x) * out_step;
        // All groups are loaded before the first is stored.
        auto look_up_groups = [&](auto groups) {
            FourPixels<In, K> four[decltype(groups)::value];
            if (vectors) {
                Vectors<In, K, 1> raw[decltype(groups)::value];
                for (int i = 0; i < groups.value; ++i)
                    raw[i] = load_vectors<InLayout, In, K>(in + i * in_advance, in_offsets);
                for (int i = 0; i < groups.value; ++i)
                    four[i] = elements_to_pixels<InLayout, In, K>(raw[i].elements[0]);
            } else {
                for (int i = 0; i < groups.value; ++i)
                    four[i] = load_pixels<Strided, In, K>(in + i * in_advance, in_offsets, in_step, false, count);
            }
            for (int i = 0; i < groups.value; ++i) {
                for (int j = 0; j < 4; ++j) four[i].v[j] = copies.look_up(four[i].v[j]);
                store_pixels<OutLayout, In, K>(out + i * out_advance, out_offsets, out_step, args.out_vector_elements,
                                               count, channels, four[i]);
            }
            in += groups.value * in_advance, out += groups.value * out_advance;
        };
        int remaining = work.steps;
#pragma unroll 1
        for (; remaining > 1; remaining -= 2) look_up_groups(Int<2>());
        if (remaining > 0) look_up_groups(Int<1>());
    }
}

}  // namespace cuaug
