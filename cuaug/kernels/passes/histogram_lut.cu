#include "gpu/batched_launch.cuh"
#include "gpu/convert.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/programmatic_launch.cuh"
#include "gpu/reduce.cuh"
#include "gpu/sample_pixels.cuh"
#include "ops/histogram_lut.cuh"
#include "records/pointwise.cuh"

namespace cuaug {

constexpr int histogram_threads = 512, histogram_warps = histogram_threads / 32;

// Shared memory of a block.
struct HistogramMemory {
    // Each lane counts in its own column, which lies in its own bank: no two lanes conflict.
    unsigned int counts[256][32];
    long long sums[3][histogram_warps], totals[3], brightest_count;
    int darkest, brightest;
};

// The table of a contrast about the mean luma. Each block of a sample computes the mean for itself.
template <int K, class In, class Layout, int LoadedK>
inline void store_contrast_lut(const SamplePixels<In, Layout, LoadedK, histogram_threads>& pixels,
                               long long pixel_count, HistogramMemory& memory, In* out) {
    constexpr int luma_channels = K == 3 ? 3 : 1,
                  channels_per_visit = LoadedK < luma_channels ? LoadedK : luma_channels;
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, level = threadIdx.x;
#pragma unroll 1
    for (int first = 0; first < luma_channels; first += channels_per_visit) {
        long long sum[channels_per_visit] = {};
        pixels.visit(first, channels_per_visit, [&](const auto& pixel) {
            for (int k = 0; k < channels_per_visit; ++k) sum[k] += __byte_perm(pixel.word[0], 0, 0x4440 + k);
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
                                           mean_luma(memory.totals, pixels.args.channels, pixel_count));
}

// The table of an autocontrast or an equalization, from the histogram of a channel.
template <class In, class Layout, int LoadedK>
inline void store_histogram_lut(const SamplePixels<In, Layout, LoadedK, histogram_threads>& pixels, int channel,
                                int kind, long long pixel_count, HistogramMemory& memory, In* out) {
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, level = threadIdx.x;
    const bool has_level = level < 256;
    for (int i = threadIdx.x; i < 256 * 32; i += histogram_threads) memory.counts[i / 32][i % 32] = 0;
    __syncthreads();
    const int selector = 0x4440 + (LoadedK > 1 ? channel : 0);
    pixels.visit(LoadedK > 1 ? 0 : channel, LoadedK, [&](const auto& pixel) {
        atomicAdd(&memory.counts[__byte_perm(pixel.word[0], 0, selector)][lane], 1u);
    });
    __syncthreads();
    long long count = 0;
#pragma unroll 8
    for (int i = 0; has_level && i < 32; ++i) count += memory.counts[level][(i + lane) % 32];
    long long pixels_up_to_level = warp_inclusive_sum(count);
    if (lane == 31) memory.sums[0][warp_index] = pixels_up_to_level;
    __syncthreads();
    for (int i = 0; i < warp_index; ++i) pixels_up_to_level += memory.sums[0][i];
    if (count > 0 && pixels_up_to_level == pixel_count) memory.brightest_count = count, memory.brightest = level;
    if (count > 0 && pixels_up_to_level == count) memory.darkest = level;
    __syncthreads();
    if (has_level)
        out[level] = kind == autocontrast
                         ? autocontrast_level(level, memory.darkest, memory.brightest)
                         : equalize_level(level, pixels_up_to_level - count, pixel_count - memory.brightest_count);
}

// A block makes the lookup table of one channel of one sample, from all its frames: `out` is [N, C, 256], uint8.
// Parameter 0 is the kind of table (HistogramLut), parameter 1 the factor of a contrast. Each of the first 256 threads
// stores one entry. Blocks of 512 threads, two per multiprocessor (benchmarks/log/policies-gpu.md). Grid: (samples,
// channels, launches of a batched launch).
template <class In, class InLayout, int K, class Launch = void>
__global__ void __launch_bounds__(histogram_threads, 2)
    histogram_lut(const __grid_constant__ BatchedRecords<PointwiseRecord, Launch> records) {
    const PointwiseRecord& args = records.current();
    constexpr int loaded_channels = is_same_v<InLayout, Packed> ? K : 1;  // packed channels are loaded together
    __shared__ HistogramMemory memory;
    const int channel = blockIdx.y;
    const long long n = blockIdx.x, pixel_count = static_cast<long long>(args.frames) * args.in_height * args.in_width;
    In* out = static_cast<In*>(args.out.data) + (n * args.channels + channel) * 256;
    const unsigned int groups_per_row = (args.in_width + 3) / 4;
    const SamplePixels<In, InLayout, loaded_channels, histogram_threads> pixels = {
        args, n, column_stride<InLayout, loaded_channels>(args.in.x_stride), groups_per_row,
        static_cast<long long>(groups_per_row) * args.in_height};

    wait_for_previous();
    allow_next_launch();
    const int kind = static_cast<int>(stored_parameter(args, n, 0));
    if (kind == adjust_contrast)
        store_contrast_lut<K>(pixels, pixel_count, memory, out);
    else if (kind == equalize || kind == autocontrast)
        store_histogram_lut(pixels, channel, kind, pixel_count, memory, out);
    else if (threadIdx.x < 256)
        out[threadIdx.x] = static_cast<In>(threadIdx.x);
}

}  // namespace cuaug
