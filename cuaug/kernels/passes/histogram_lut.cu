#include "gpu/pixel_convert.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/reduce.cuh"
#include "gpu/programmatic_launch.cuh"
#include "gpu/batched_launch.cuh"
#include "gpu/vectors.cuh"
#include "records/pointwise.cuh"
#include "ops/histogram_lut.cuh"

namespace cuaug {

constexpr int histogram_threads = 512;

// A block makes the table of one channel of one sample, all its frames together: `out` is [N, C, 256], bytes. Parameter
// 0 says how (`HistogramLut`), 1 is the factor of a contrast, whose mean each block of a sample adds up for itself.
// Lanes count in columns of their own, so that they meet in no bank. Then a thread makes an entry. Blocks of 512
// threads, two at a time (benchmarks/log/policies-gpu.md). Grid: (samples, channels).
template <class In, class InLayout, int K, class Epilogue = void>
__global__ void __launch_bounds__(histogram_threads, 2)
    histogram_lut(const __grid_constant__ BatchedRecords<PointwiseRecord, Epilogue> records) {
    const PointwiseRecord& args = records.current();
    constexpr int apiece = is_same_v<InLayout, Packed> ? K : 1,
                  ahead = 4;  // channels that are loaded at once, as they lie side by side
    __shared__ unsigned int counts[256][32];
    __shared__ long long sums[3][histogram_threads / 32], totals[3], highest;
    __shared__ int darkest, brightest;
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, step = column_stride<InLayout, apiece>(args.in.x),
              channel = blockIdx.y;
    const unsigned int across = (args.in_width + 3) / 4;
    const long long n = blockIdx.x, pieces = static_cast<long long>(across) * args.in_height,
                    total = static_cast<long long>(args.frames) * args.in_height * args.in_width;
    In* out = static_cast<In*>(args.out.data) + (n * args.channels + channel) * 256;

    // Calls `use` with every pixel, `apiece` channels from `first` on. Rows without gaps are one long row, of which a
    // thread loads `ahead` times four pixels before it uses the first.
    auto each_pixel = [&](int first, const auto& use) {
        long long offset[apiece];
        channel_offsets<InLayout, apiece>(args.in.c, apiece, offset);
        for (int t = 0; t < args.frames; ++t) {
            const In* frame = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t + first * args.in.c;
            if constexpr (!is_same_v<InLayout, Strided>)
                if (args.in_vector_elements && args.in_width % 4 == 0 &&
                    args.in.y == static_cast<long long>(args.in_width) * step) {
                    const In* at = frame + 4LL * threadIdx.x * step;
                    for (long long left = pieces - threadIdx.x; left > 0;
                         left -= ahead * histogram_threads, at += 4LL * ahead * histogram_threads * step) {
                        Vectors<In, apiece, 1> raw[ahead];
                        for (int i = 0; i < ahead; ++i)
                            raw[i] = load_vectors<InLayout, In, apiece>(
                                i * histogram_threads < left ? at + 4 * i * histogram_threads * step : at, offset);
                        for (int i = 0; i < ahead; ++i) {
                            if (i * histogram_threads >= left) break;
                            const FourPixels<In, apiece> four = elements_to_pixels<InLayout, In, apiece>(raw[i].of[0]);
                            for (int j = 0; j < 4; ++j) use(four.v[j].word[0]);
                        }
                    }
                    continue;
                }
            for (long long piece = threadIdx.x; piece < pieces; piece += histogram_threads) {
                const unsigned int index = static_cast<unsigned int>(piece);
                const int y = index / across, x = 4 * (index - y * across), count = min(4, args.in_width - x);
                const FourPixels<In, apiece> four =
                    load_pixels<InLayout, In, apiece>(frame + y * args.in.y + static_cast<long long>(x) * step, offset,
                                                      step, args.in_vector_elements, count);
                for (int j = 0; j < count; ++j) use(four.v[j].word[0]);
            }
        }
    };

    wait_for_previous();
    allow_next_launch();
    const int wanted = static_cast<int>(stored_parameter(args, n, 0)), level = threadIdx.x;
    const bool makes = level < 256;
    if (wanted == identity) {
        if (makes) out[level] = static_cast<In>(level);
    } else if (wanted == adjust_contrast) {
        constexpr int all = K == 3 ? 3 : 1, at_once = apiece < all ? apiece : all;
#pragma unroll 1
        for (int first = 0; first < all; first += at_once) {
            long long sum[at_once] = {};
            each_pixel(first, [&](Word pixel) {
                for (int k = 0; k < at_once; ++k) sum[k] += __byte_perm(pixel, 0, 0x4440 + k);
            });
            for (int k = 0; k < at_once; ++k) {
                sum[k] = warp_sum(sum[k]);
                if (lane == 0) sums[first + k][warp_index] = sum[k];
            }
        }
        __syncthreads();
        if (warp_index < all) {
            const long long sum = warp_sum(lane < histogram_threads / 32 ? sums[warp_index][lane] : 0);
            if (lane == 0) totals[warp_index] = sum;
        }
        __syncthreads();
        if (makes)
            out[level] = adjust_contrast_level(level, static_cast<float>(stored_parameter(args, n, 1)),
                                               mean_luma(totals, args.channels, total));
    } else {
        for (int i = threadIdx.x; i < 256 * 32; i += histogram_threads) counts[i / 32][i % 32] = 0;
        __syncthreads();
        const int selector = 0x4440 + (apiece > 1 ? channel : 0);
        each_pixel(apiece > 1 ? 0 : channel,
                   [&](Word pixel) { atomicAdd(&counts[__byte_perm(pixel, 0, selector)][lane], 1u); });
        __syncthreads();
        long long own = 0;
#pragma unroll 8
        for (int i = 0; makes && i < 32; ++i) own += counts[level][(i + lane) % 32];
        long long up_to = warp_inclusive_sum(own);
        if (lane == 31) sums[0][warp_index] = up_to;
        __syncthreads();
        for (int i = 0; i < warp_index; ++i) up_to += sums[0][i];
        if (own > 0 && up_to == total) highest = own, brightest = level;
        if (own > 0 && up_to == own) darkest = level;
        __syncthreads();
        if (makes)
            out[level] = wanted == autocontrast ? autocontrast_level(level, darkest, brightest)
                                                : equalize_level(level, up_to - own, total - highest);
    }
}

}  // namespace cuaug
