#include "detection/roi_backward_scatter.cuh"
#include "detection/roi_axis_weights.cuh"

namespace cuaug {

constexpr int spread_threads = 128, spread_warps = spread_threads / 32;
template <class R>
constexpr int most_rows = 128 / sizeof(R);  // of bins, whose sums each thread keeps

// Channels in planes: a thread has a column of pixels of one channel, side by side with its neighbours'. It sums up
// what the bins of each row send to the column, and then what these rows send to each pixel.
template <class T, class R>
inline void spread_planes(const Pooling& args, const Maps& maps, const T* from, const AxisPixels<R>& down,
                          const AxisPixels<R>& across, R* to, R (*sums)[spread_threads]) {
    const unsigned int columns = across.pixels, height = args.out_height, items = args.channels * columns;
    for (unsigned int item = blockIdx.y * spread_threads + threadIdx.x; item < items;
         item += gridDim.y * spread_threads) {
        const unsigned int c = item / columns;
        const BinsOfPixel column = across.pixel[item - c * columns];
        const T* gradient = from + c * args.pooled.c + column.bin * args.pooled.x;
        for (unsigned int y = 0; y < height; ++y) sums[y][threadIdx.x] = 0;
        for (int b = 0; b < column.bins; ++b) {
            const R weight = across.weight[column.first + b];
#pragma unroll 8
            for (unsigned int y = 0; y < height; ++y)
                sums[y][threadIdx.x] += weight * to_compute<R>(gradient[y * args.pooled.y + b * args.pooled.x]);
        }
        R* pixels = to + c * maps.c + column.at * maps.x;
        for (int i = 0; i < down.pixels; ++i) {
            const BinsOfPixel row = down.pixel[i];
            R sum = 0;
            for (int b = 0; b < row.bins; ++b) sum += down.weight[row.first + b] * sums[row.bin + b][threadIdx.x];
            atomicAdd(pixels + row.at * maps.y, sum);
        }
    }
}

// Channels side by side: a warp has a pixel, and a lane four of its channels, each beside those of other lanes.
template <class T, class R>
inline void spread_channels(const Pooling& args, const Maps& maps, const T* from, const AxisPixels<R>& down,
                            const AxisPixels<R>& across, R* to) {
    constexpr int W = 4;
    const unsigned int columns = across.pixels, groups = (args.channels + 32 * W - 1) / (32 * W),
                       items = down.pixels * columns * groups, lane = threadIdx.x % 32;
    for (unsigned int item = blockIdx.y * spread_warps + threadIdx.x / 32; item < items;
         item += gridDim.y * spread_warps) {
        const unsigned int place = item / groups, i = place / columns;
        const int c = (item - place * groups) * 32 * W + lane;
        const BinsOfPixel row = down.pixel[i], column = across.pixel[place - i * columns];
        R sum[W] = {};
        for (int y = 0; y < row.bins; ++y)
            for (int x = 0; x < column.bins; ++x) {
                const R weight = down.weight[row.first + y] * across.weight[column.first + x];
                const T* gradient =
                    from + c * args.pooled.c + (row.bin + y) * args.pooled.y + (column.bin + x) * args.pooled.x;
                for (int j = 0; j < W; ++j)
                    if (c + 32 * j < args.channels) sum[j] += weight * to_compute<R>(gradient[32 * j * args.pooled.c]);
            }
        R* pixel = to + c * maps.c + row.at * maps.y + column.at * maps.x;
        for (int j = 0; j < W; ++j)
            if (c + 32 * j < args.channels) atomicAdd(pixel + 32 * j * maps.c, sum[j]);
    }
}

// A block adds the gradients of an upright region's averages to its pixels, each of which is touched once for a
// channel. What has too many pixels it walks through sample by sample. Grid: (regions, parts).
template <class T, bool inside>
__global__ void __launch_bounds__(spread_threads, sizeof(ComputeType<T>) == 8 ? 4 : 6)
    roi_backward_separable(const __grid_constant__ Pooling args) {
    using R = ComputeType<T>;
    __shared__ AxisPixels<R> down, across;
    __shared__ R sums[inside ? 1 : most_rows<R>][spread_threads];
    const long long k = blockIdx.x;
    const SampledBins<R> shape(args, k);
    if (shape.n < 0) return;
    const PoolingLevel& level = *shape.level;
    const Extent<R> touched = shape.touched(args);
    // A warp for each axis, so that all blocks of a region have its pixels in one order, by which they share them out.
    if (threadIdx.x < 64) {
        const bool rows = threadIdx.x < 32;
        const int extent = rows ? level.height : level.width;
        const int first = pixel_at(floor(rows ? touched.top : touched.left), extent),
                  end = pixel_at(ceil(rows ? touched.bottom : touched.right) + R(1), extent);
        find_pixels(rows ? shape.roi.y : shape.roi.x, rows ? args.out_height : args.out_width, extent, first, end,
                    rows ? down : across);
    }
    __syncthreads();
    const bool fits = down.pixels <= most_pixels && down.used <= most_parts && across.pixels <= most_pixels &&
                      across.used <= most_parts && (inside || args.out_height <= most_rows<R>);
    if (!fits)
        return add_region<T, false, inside>(args, shape, k,
                                            static_cast<long long>(blockIdx.y) * spread_threads + threadIdx.x,
                                            static_cast<long long>(gridDim.y) * spread_threads);
    const Maps& maps = level.gradients;
    const T* from = static_cast<const T*>(args.pooled.data) + k * args.pooled.n;
    R* to = static_cast<R*>(maps.data) + shape.n * maps.n;
    if constexpr (inside)
        spread_channels(args, maps, from, down, across, to);
    else
        spread_planes(args, maps, from, down, across, to, sums);
}

}  // namespace cuaug
