#include "gpu/bytes.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/scan.cuh"
#include "gpu/succession.cuh"
#include "gpu/vectors.cuh"
#include "pointwise_record.cuh"
#include "relevelled.cuh"

namespace cuaug {

constexpr int relevel_threads = 1024, histogram_copies = 8;

// A block counts the levels of a sample, all its frames together, K channels at a time, and writes the table that changes them: `out`
// is [N, C, 256], bytes. Parameter 0 says how (`Relevelling`), 1 is the factor of a contrast, about the mean of the first K channels. Lanes count in turns in
// one of the copies: neighbours are often of one level, for which they would wait for each other. Then a thread makes an entry. Grid: (samples).
template <class In, class InLayout, int K>
__global__ void __launch_bounds__(relevel_threads) relevel(const __grid_constant__ Pointwise args) {
    __shared__ unsigned int counts[K * 256 * histogram_copies];  // [K, 256, copies]
    __shared__ long long sums[32], highest[4], weighted[32];
    __shared__ int darkest[4], brightest[4];
    __shared__ double mean;
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, copy = lane % histogram_copies, k = threadIdx.x >> 8, level = threadIdx.x & 255;
    const int step = column_stride<InLayout, K>(args.in.x);
    const unsigned int across = (args.in_width + 3) / 4;
    const long long n = blockIdx.x, pieces = static_cast<long long>(across) * args.in_height;
    const long long total = static_cast<long long>(args.frames) * args.in_height * args.in_width;

    wait_for_previous();
    const int wanted = static_cast<int>(parameter(args, n, 0));
    if (wanted == unchanged) {
        In* same = static_cast<In*>(args.out.data) + n * args.channels * 256;
        for (int i = threadIdx.x; i < args.channels * 256; i += relevel_threads) same[i] = static_cast<In>(i & 255);
        return;
    }
    for (int first = 0; first < args.channels; first += K) {
        const int channels = args.channels - first;
        long long offset[K];
        channel_offsets<InLayout, K>(args.in.c, channels, offset);
        for (int i = threadIdx.x; i < K * 256 * histogram_copies; i += relevel_threads) counts[i] = 0;
        __syncthreads();
        for (int t = 0; t < args.frames; ++t) {
            const In* frame = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t + first * args.in.c;
            for (long long piece = threadIdx.x; piece < pieces; piece += relevel_threads) {
                const unsigned int index = static_cast<unsigned int>(piece);
                const int y = index / across, x = 4 * (index - y * across), count = min(4, args.in_width - x);
                const FourPixels<In, K> four = load_pixels<InLayout, In, K>(frame + y * args.in.y + static_cast<long long>(x) * step, offset, step, args.in_aligned, count);
                for (int j = 0; j < 4; ++j) {
                    const Texel<In, K> texel = to_texel(four.v[j]);
                    if (j < count)
                        for (int c = 0; c < K; ++c) atomicAdd(counts + (c * 256 + texel.c[c]) * histogram_copies + copy, 1u);
                }
            }
        }
        __syncthreads();

        long long own = 0;
        if (k < K)
            for (int i = 0; i < histogram_copies; ++i) own += counts[threadIdx.x * histogram_copies + i];
        long long up_to = sum_up_to(own);
        const long long levels = sum_of(own * level);
        if (lane == 31) sums[warp_index] = up_to, weighted[warp_index] = levels;
        __syncthreads();
        for (int i = warp_index & ~7; i < warp_index; ++i) up_to += sums[i];
        if (own > 0 && up_to == total) highest[k] = own, brightest[k] = level;
        if (own > 0 && up_to == own) darkest[k] = level;
        if (first == 0 && threadIdx.x == 0) {
            long long all[3] = {};
            for (int i = 0; i < 24; ++i) all[i / 8] += weighted[i];
            mean = mean_luma(all, args.channels, total);
        }
        __syncthreads();
        if (k < K && k < channels) {
            In* to = static_cast<In*>(args.out.data) + (n * args.channels + first + k) * 256 + level;
            if (wanted == contrasting) *to = contrasted(level, static_cast<float>(parameter(args, n, 1)), mean);
            else *to = wanted == stretching ? stretched(level, darkest[k], brightest[k]) : equalized(level, up_to - own, total - highest[k]);
        }
    }
}

}  // namespace cuaug
