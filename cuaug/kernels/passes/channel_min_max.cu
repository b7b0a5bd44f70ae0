#include "gpu/pixel_convert.cuh"
#include "gpu/convert.cuh"
#include "gpu/sample_pixels.cuh"

namespace cuaug {

constexpr int min_max_threads = 1024;

// A block finds the minimum and maximum of each channel of a sample, over all its frames, in the images' range: `out`
// is [N, 2, C], float64. NaN pixels are ignored. If parameter 0 is 0, the sample needs no values, and both are NaN.
// Grid: (samples).
template <class In, class InLayout, int K>
__global__ void __launch_bounds__(min_max_threads) channel_min_max(const __grid_constant__ PointwiseRecord args) {
    using R = ComputeType<In>;
    __shared__ R lows[K][min_max_threads / 32], highs[K][min_max_threads / 32];
    const R infinity = bits_to_float(0x7F800000u);
    const int lane = threadIdx.x & 31;
    const unsigned int groups_per_row = (args.in_width + 3) / 4;
    const long long n = blockIdx.x;
    const SamplePixels<In, InLayout, K, min_max_threads> pixels = {
        args, n, column_stride<InLayout, K>(args.in.x_stride), groups_per_row,
        static_cast<long long>(groups_per_row) * args.in_height};

    if (parameter(args, n, 0) == 0.0) {
        double* out = static_cast<double*>(args.out.data) + 2 * n * args.channels;
        for (int i = threadIdx.x; i < 2 * args.channels; i += min_max_threads) out[i] = bits_to_float(0x7FC00000u);
        return;
    }
    for (int first = 0; first < args.channels; first += K) {
        const int channels = args.channels - first;
        R low[K], high[K];
        for (int k = 0; k < K; ++k) low[k] = infinity, high[k] = -infinity;
        pixels.visit(first, channels, [&](const auto& stored) {
            const Pixel<R, K> pixel = to_pixel<R>(stored);
            for (int k = 0; k < K; ++k) low[k] = fmin(low[k], pixel.c[k]), high[k] = fmax(high[k], pixel.c[k]);
        });
        for (int k = 0; k < K; ++k) {
            for (int i = 16; i > 0; i /= 2) {
                low[k] = fmin(low[k], __shfl_xor_sync(0xffffffffu, low[k], i));
                high[k] = fmax(high[k], __shfl_xor_sync(0xffffffffu, high[k], i));
            }
            if (lane == 0) lows[k][threadIdx.x >> 5] = low[k], highs[k][threadIdx.x >> 5] = high[k];
        }
        __syncthreads();
        const int k = threadIdx.x;
        if (k < K && k < channels) {
            R minimum = lows[k][0], maximum = highs[k][0];
            for (int i = 1; i < min_max_threads / 32; ++i)
                minimum = fmin(minimum, lows[k][i]), maximum = fmax(maximum, highs[k][i]);
            double* out = static_cast<double*>(args.out.data) + 2 * n * args.channels + first + k;
            out[0] = minimum;
            out[args.channels] = maximum;
        }
        __syncthreads();
    }
}

}  // namespace cuaug
