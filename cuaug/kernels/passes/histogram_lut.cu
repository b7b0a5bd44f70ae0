#include "gpu/batched_launch.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/programmatic_launch.cuh"
#include "gpu/reduce.cuh"
#include "gpu/vectors.cuh"
#include "ops/histogram_lut.cuh"
#include "records/pointwise.cuh"

namespace cuaug {

constexpr int histogram_threads = 512, histogram_warps = histogram_threads / 32;

// Shared memory of a block.
struct HistogramMemory {
    // Each lane counts in its own column, which lies in its own bank: no two lanes conflict.
    unsigned int counts[256][32];
    long long sums[3][histogram_warps], totals[3], highest_count;
    int darkest, brightest;
};

// The pixels of a sample, which all threads of the block visit together: K channels of each pixel at a time.
template <class In, class Layout, int K>
struct SamplePixels {
    static constexpr int loads_ahead = 4;  // groups
    const PointwiseRecord& args;
    long long n;
    int step;                     // from pixel to pixel
    unsigned int groups_per_row;  // of four pixels
    long long frame_groups;

    bool has_contiguous_rows() const {
        return args.in_vector_elements && args.in_width % 4 == 0 &&
               args.in.y_stride == static_cast<long long>(args.in_width) * step;
    }

    // A frame without gaps is one long row, of which a thread loads several groups before it uses the first.
    template <class Visitor>
    void visit_contiguous(const In* frame, const long long* offset, const Visitor& visit) const {
        constexpr int ahead = loads_ahead, advance = 4 * histogram_threads;  // pixels, from a group to the next
        const In* at = frame + 4LL * threadIdx.x * step;
        long long remaining = frame_groups - threadIdx.x;
        auto visit_groups = [&](auto count) {
            Vectors<In, K, 1> raw[decltype(count)::value];
            for (int i = 0; i < count.value; ++i) raw[i] = load_vectors<Layout, In, K>(at + i * advance * step, offset);
            for (int i = 0; i < count.value; ++i) {
                const FourPixels<In, K> four = elements_to_pixels<Layout, In, K>(raw[i].elements[0]);
                for (int j = 0; j < 4; ++j) visit(four.v[j].word[0]);
            }
            remaining -= count.value * histogram_threads;
            at += static_cast<long long>(count.value) * advance * step;
        };
        // Without a condition between the loads, or the compiler moves each to where its group is used.
#pragma unroll 1
        while (remaining > (ahead - 1) * histogram_threads) visit_groups(Int<ahead>());
#pragma unroll 1
        while (remaining > 0) visit_groups(Int<1>());
    }

    template <class Visitor>
    void visit_rows(const In* frame, const long long* offset, const Visitor& visit) const {
        for (long long group = threadIdx.x; group < frame_groups; group += histogram_threads) {
            const unsigned int index = static_cast<unsigned int>(group);
            const int y = index / groups_per_row, x = 4 * (index - y * groups_per_row),
                      count = min(4, args.in_width - x);
            const FourPixels<In, K> four =
                load_pixels<Layout, In, K>(frame + y * args.in.y_stride + static_cast<long long>(x) * step, offset,
                                           step, args.in_vector_elements, count);
            for (int j = 0; j < count; ++j) visit(four.v[j].word[0]);
        }
    }

    // Calls visit(word) with every pixel's channels from `first` on.
    template <class Visitor>
    void visit(int first, const Visitor& visit) const {
        long long offset[K];
        channel_offsets<Layout, K>(args.in.c_stride, K, offset);
        for (int t = 0; t < args.frames; ++t) {
            const In* frame = static_cast<const In*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride +
                              first * args.in.c_stride;
            if constexpr (!is_same_v<Layout, Strided>)
                if (has_contiguous_rows()) {
                    visit_contiguous(frame, offset, visit);
                    continue;
                }
            visit_rows(frame, offset, visit);
        }
    }
};

// The table of a contrast about the mean luma. Each block of a sample computes the mean for itself.
template <int K, class In, class Layout, int LoadedK>
inline void store_contrast_lut(const SamplePixels<In, Layout, LoadedK>& pixels, long long total,
                               HistogramMemory& memory, In* out) {
    constexpr int luma_channels = K == 3 ? 3 : 1,
                  channels_per_visit = LoadedK < luma_channels ? LoadedK : luma_channels;
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, level = threadIdx.x;
#pragma unroll 1
    for (int first = 0; first < luma_channels; first += channels_per_visit) {
        long long sum[channels_per_visit] = {};
        pixels.visit(first, [&](Word pixel) {
            for (int k = 0; k < channels_per_visit; ++k) sum[k] += __byte_perm(pixel, 0, 0x4440 + k);
        });
        for (int k = 0; k < channels_per_visit; ++k) {
            sum[k] = warp_sum(sum[k]);
            if (lane == 0) memory.sums[first + k][warp_index] = sum[k];
        }
    }
    __syncthreads();
    if (warp_index < luma_channels) {
        const long long sum = warp_sum(lane < histogram_warps ? memory.sums[warp_index][lane] : 0);
        if (lane == 0) memory.totals[warp_index] = sum;
    }
    __syncthreads();
    if (level < 256)
        out[level] = adjust_contrast_level(level, static_cast<float>(stored_parameter(pixels.args, pixels.n, 1)),
                                           mean_luma(memory.totals, pixels.args.channels, total));
}

// The table of an autocontrast or an equalization, from the histogram of a channel.
template <class In, class Layout, int LoadedK>
inline void store_histogram_lut(const SamplePixels<In, Layout, LoadedK>& pixels, int channel, int kind, long long total,
                                HistogramMemory& memory, In* out) {
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, level = threadIdx.x;
    const bool has_level = level < 256;
    for (int i = threadIdx.x; i < 256 * 32; i += histogram_threads) memory.counts[i / 32][i % 32] = 0;
    __syncthreads();
    const int selector = 0x4440 + (LoadedK > 1 ? channel : 0);
    pixels.visit(LoadedK > 1 ? 0 : channel,
                 [&](Word pixel) { atomicAdd(&memory.counts[__byte_perm(pixel, 0, selector)][lane], 1u); });
    __syncthreads();
    long long count = 0;
#pragma unroll 8
    for (int i = 0; has_level && i < 32; ++i) count += memory.counts[level][(i + lane) % 32];
    long long pixels_up_to_level = warp_inclusive_sum(count);
    if (lane == 31) memory.sums[0][warp_index] = pixels_up_to_level;
    __syncthreads();
    for (int i = 0; i < warp_index; ++i) pixels_up_to_level += memory.sums[0][i];
    if (count > 0 && pixels_up_to_level == total) memory.highest_count = count, memory.brightest = level;
    if (count > 0 && pixels_up_to_level == count) memory.darkest = level;
    __syncthreads();
    if (has_level)
        out[level] = kind == autocontrast
                         ? autocontrast_level(level, memory.darkest, memory.brightest)
                         : equalize_level(level, pixels_up_to_level - count, total - memory.highest_count);
}

// A block makes the lookup table of one channel of one sample, from all its frames: `out` is [N, C, 256], uint8.
// Parameter 0 is the HistogramLut, parameter 1 the factor of a contrast. Each of the first 256 threads stores one
// entry. Blocks of 512 threads, two per multiprocessor (benchmarks/log/policies-gpu.md). Grid: (samples, channels,
// launches of a batched launch).
template <class In, class InLayout, int K, class Launch = void>
__global__ void __launch_bounds__(histogram_threads, 2)
    histogram_lut(const __grid_constant__ BatchedRecords<PointwiseRecord, Launch> records) {
    const PointwiseRecord& args = records.current();
    constexpr int loaded_channels = is_same_v<InLayout, Packed> ? K : 1;  // packed channels are loaded together
    __shared__ HistogramMemory memory;
    const int channel = blockIdx.y;
    const long long n = blockIdx.x, total = static_cast<long long>(args.frames) * args.in_height * args.in_width;
    In* out = static_cast<In*>(args.out.data) + (n * args.channels + channel) * 256;
    const unsigned int groups_per_row = (args.in_width + 3) / 4;
    const SamplePixels<In, InLayout, loaded_channels> pixels = {
        args, n, column_stride<InLayout, loaded_channels>(args.in.x_stride), groups_per_row,
        static_cast<long long>(groups_per_row) * args.in_height};

    wait_for_previous();
    allow_next_launch();
    const int kind = static_cast<int>(stored_parameter(args, n, 0));
    if (kind == identity) {
        if (threadIdx.x < 256) out[threadIdx.x] = static_cast<In>(threadIdx.x);
    } else if (kind == adjust_contrast) {
        store_contrast_lut<K>(pixels, total, memory, out);
    } else {
        store_histogram_lut(pixels, channel, kind, total, memory, out);
    }
}

}  // namespace cuaug
