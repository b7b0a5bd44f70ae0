#include "gpu/batched_launch.cuh"
#include "gpu/convert.cuh"
#include "gpu/level_histogram.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/programmatic_launch.cuh"
#include "gpu/reduce.cuh"
#include "gpu/sample_pixels.cuh"
#include "ops/histogram_lut.cuh"
#include "records/pointwise.cuh"

namespace cuaug {

constexpr int histogram_threads = 128, histogram_warps = histogram_threads / 32;

// Shared memory of a block.
struct HistogramMemory {
    LevelHistogram<histogram_warps> histogram;
    Word counts[histogram_warps][256];
    long long sums[3][histogram_warps], highest_count;
    int darkest, brightest;
};

// The table of a contrast about the mean luma. Each block of a sample computes the mean for itself.
template <int K, class In, class Layout, int LoadedK>
inline void store_contrast_lut(const SamplePixels<In, Layout, LoadedK, histogram_threads>& pixels, long long total,
                               HistogramMemory& memory, In* out) {
    constexpr int luma_channels = K == 3 ? 3 : 1,
                  channels_per_visit = LoadedK < luma_channels ? LoadedK : luma_channels;
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
#pragma unroll 1
    for (int first = 0; first < luma_channels; first += channels_per_visit) {
        long long sum[channels_per_visit] = {};
        auto add = [&](const FourPixels<In, LoadedK>& four, int count) {
            for (int k = 0; k < channels_per_visit; ++k) {
                int sum_of_four = 0;
                for (int i = 0; i < 4; ++i)
                    if (i < count) sum_of_four += __byte_perm(four.v[i].word[0], 0, 0x4440 + k);
                sum[k] += sum_of_four;
            }
        };
        pixels.visit(first, channels_per_visit, add, [] {});
        for (int k = 0; k < channels_per_visit; ++k) {
            sum[k] = warp_sum(sum[k]);
            if (lane == 0) memory.sums[first + k][warp_index] = sum[k];
        }
    }
    __syncthreads();
    long long sums[luma_channels] = {};
    for (int k = 0; k < luma_channels; ++k)
        for (int i = 0; i < histogram_warps; ++i) sums[k] += memory.sums[k][i];
    const double mean = mean_luma(sums, pixels.args.channels, total);
    for (int level = threadIdx.x; level < 256; level += histogram_threads)
        out[level] = adjust_contrast_level(level, static_cast<float>(stored_parameter(pixels.args, pixels.n, 1)), mean);
}

// Counts the levels of a channel. Afterwards `memory.counts` has the counts of each warp.
template <class In, class Layout, int LoadedK>
inline void count_levels(const SamplePixels<In, Layout, LoadedK, histogram_threads>& pixels, int channel,
                         HistogramMemory& memory) {
    using Histogram = LevelHistogram<histogram_warps>;
    using Pixels = SamplePixels<In, Layout, LoadedK, histogram_threads>;
    static_assert(4 * Pixels::groups_per_chunk <= Histogram::max_count);
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
    const int loaded_channel = LoadedK > 1 ? channel : 0, selector = loaded_channel | (4 + loaded_channel) << 4;
    Histogram& histogram = memory.histogram;
    Histogram::LaneSums sums = {};
    histogram.clear();
    pixels.visit(
        channel - loaded_channel, LoadedK,
        [&](const FourPixels<In, LoadedK>& four, int count) {
            const Word first_two = permute_bytes(four.v[0].word[0], four.v[1].word[0], selector),
                       last_two = permute_bytes(four.v[2].word[0], four.v[3].word[0], selector);
            histogram.add(permute_bytes(first_two, last_two, low_halves), count);
        },
        [&] { histogram.move_to(sums); });
    for (int i = 0; i < 2; ++i)
        for (int byte = 0; byte < 4; ++byte)
            memory.counts[warp_index][lane + 32 * i + 64 * byte] = sums.of_level[i][byte];
}

// The table of an autocontrast or an equalization, from the histogram of a channel. A thread makes two entries.
template <class In, class Layout, int LoadedK>
inline void store_histogram_lut(const SamplePixels<In, Layout, LoadedK, histogram_threads>& pixels, int channel,
                                int kind, long long total, HistogramMemory& memory, In* out) {
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, first_level = 2 * threadIdx.x;
    count_levels(pixels, channel, memory);
    __syncthreads();
    long long counts[2] = {};
    for (int i = 0; i < 2; ++i)
        for (int warp = 0; warp < histogram_warps; ++warp) counts[i] += memory.counts[warp][first_level + i];
    const long long counted_by_warp = warp_inclusive_sum(counts[0] + counts[1]);
    if (lane == 31) memory.sums[0][warp_index] = counted_by_warp;
    __syncthreads();
    long long below = counted_by_warp - counts[0] - counts[1];
    for (int i = 0; i < warp_index; ++i) below += memory.sums[0][i];
    const long long pixels_below[2] = {below, below + counts[0]};
    for (int i = 0; i < 2; ++i) {
        if (counts[i] == 0) continue;
        if (pixels_below[i] + counts[i] == total) memory.highest_count = counts[i], memory.brightest = first_level + i;
        if (pixels_below[i] == 0) memory.darkest = first_level + i;
    }
    __syncthreads();
    for (int i = 0; i < 2; ++i)
        out[first_level + i] = kind == autocontrast
                                   ? autocontrast_level(first_level + i, memory.darkest, memory.brightest)
                                   : equalize_level(first_level + i, pixels_below[i], total - memory.highest_count);
}

// A block makes the lookup table of one channel of one sample, from all its frames: `out` is [N, C, 256], uint8.
// Parameter 0 is the HistogramLut, parameter 1 the factor of a contrast. Grid: (samples, channels, launches of a
// batched launch).
template <class In, class InLayout, int K, class Launch = void>
__global__ void __launch_bounds__(histogram_threads, 6)
    histogram_lut(const __grid_constant__ BatchedRecords<PointwiseRecord, Launch> records) {
    const PointwiseRecord& args = records.current();
    constexpr int loaded_channels = is_same_v<InLayout, Packed> ? K : 1;  // packed channels are loaded together
    __shared__ HistogramMemory memory;
    const int channel = blockIdx.y;
    const long long n = blockIdx.x, total = static_cast<long long>(args.frames) * args.in_height * args.in_width;
    In* out = static_cast<In*>(args.out.data) + (n * args.channels + channel) * 256;
    const SamplePixels<In, InLayout, loaded_channels, histogram_threads> pixels(args, n);

    wait_for_previous();
    allow_next_launch();
    const int kind = static_cast<int>(stored_parameter(args, n, 0));
    if (kind == identity) {
        for (int level = threadIdx.x; level < 256; level += histogram_threads) out[level] = static_cast<In>(level);
    } else if (kind == adjust_contrast) {
        store_contrast_lut<K>(pixels, total, memory, out);
    } else {
        store_histogram_lut(pixels, channel, kind, total, memory, out);
    }
}

}  // namespace cuaug
