#include "detection/roi_axis_weights.cuh"
#include "detection/roi_backward_scatter.cuh"

namespace cuaug {

constexpr int separable_threads = 128, separable_warps = separable_threads / 32;
template <class R>
constexpr int max_rows = 128 / sizeof(R);  // rows of bins whose sums a thread holds in shared memory

// Planar: a thread has a column of pixels of one channel; adjacent threads have adjacent columns. The thread first sums
// the gradients that each row of bins contributes to the column (`sums`), then for each pixel of the column the `sums`
// of the rows of bins that use it.
template <class T, class R>
inline void scatter_planes(const RoiRecord& args, const FeatureMap& map, const T* in, const AxisPixels<R>& rows,
                           const AxisPixels<R>& columns, R* out, R (*sums)[separable_threads]) {
    const unsigned int width = columns.pixels, height = args.out_height, items = args.channels * width;
    for (unsigned int item = blockIdx.y * separable_threads + threadIdx.x; item < items;
         item += gridDim.y * separable_threads) {
        const unsigned int c = item / width;
        const PixelBinRange column = columns.range[item - c * width];
        const T* gradient = in + c * args.pooled.c_stride + column.bin * args.pooled.x_stride;
        for (unsigned int y = 0; y < height; ++y) sums[y][threadIdx.x] = 0;
        for (int b = 0; b < column.bins; ++b) {
            const R weight = columns.weight[column.first + b];
#pragma unroll 8
            for (unsigned int y = 0; y < height; ++y)
                sums[y][threadIdx.x] +=
                    weight * to_compute<R>(gradient[y * args.pooled.y_stride + b * args.pooled.x_stride]);
        }
        R* pixels = out + c * map.c_stride + column.pixel * map.x_stride;
        for (int i = 0; i < rows.pixels; ++i) {
            const PixelBinRange row = rows.range[i];
            R sum = 0;
            for (int b = 0; b < row.bins; ++b) sum += rows.weight[row.first + b] * sums[row.bin + b][threadIdx.x];
            atomicAdd(pixels + row.pixel * map.y_stride, sum);
        }
    }
}

// Channels last: a warp has a pixel, and a lane four of its channels, 32 apart.
template <class T, class R>
inline void scatter_channels(const RoiRecord& args, const FeatureMap& map, const T* in, const AxisPixels<R>& rows,
                             const AxisPixels<R>& columns, R* out) {
    constexpr int W = 4;
    const unsigned int width = columns.pixels, groups = (args.channels + 32 * W - 1) / (32 * W),
                       items = rows.pixels * width * groups, lane = threadIdx.x % 32;
    for (unsigned int item = blockIdx.y * separable_warps + threadIdx.x / 32; item < items;
         item += gridDim.y * separable_warps) {
        const unsigned int pixel_index = item / groups, i = pixel_index / width;
        const int c = (item - pixel_index * groups) * 32 * W + lane;
        const PixelBinRange row = rows.range[i], column = columns.range[pixel_index - i * width];
        R sum[W] = {};
        for (int y = 0; y < row.bins; ++y)
            for (int x = 0; x < column.bins; ++x) {
                const R weight = rows.weight[row.first + y] * columns.weight[column.first + x];
                const T* gradient = in + c * args.pooled.c_stride + (row.bin + y) * args.pooled.y_stride +
                                    (column.bin + x) * args.pooled.x_stride;
                for (int j = 0; j < W; ++j)
                    if (c + 32 * j < args.channels)
                        sum[j] += weight * to_compute<R>(gradient[32 * j * args.pooled.c_stride]);
            }
        R* pixel = out + c * map.c_stride + row.pixel * map.y_stride + column.pixel * map.x_stride;
        for (int j = 0; j < W; ++j)
            if (c + 32 * j < args.channels) atomicAdd(pixel + 32 * j * map.c_stride, sum[j]);
    }
}

// A block adds the gradients of the averages of an unrotated region to its pixels, once for each pixel and channel. A
// region with too many pixels, weights or rows of bins is processed point by point. Grid: (regions, blocks per region).
template <class T, bool channels_last>
__global__ void __launch_bounds__(separable_threads, sizeof(ComputeType<T>) == 8 ? 4 : 6)
    roi_backward_separable(const __grid_constant__ RoiRecord args) {
    using R = ComputeType<T>;
    __shared__ AxisPixels<R> rows, columns;
    __shared__ R sums[channels_last ? 1 : max_rows<R>][separable_threads];
    const long long k = blockIdx.x;
    const RoiAlignBins<R> bins(args, k);
    if (bins.n < 0) return;
    const RoiLevel& level = *bins.level;
    const MapRect<R> touched = bins.touched_rect(args);
    // One warp per axis, so that all blocks of a region have its pixels in the same order: the blocks divide the pixels
    // by index.
    if (threadIdx.x < 64) {
        const bool is_y = threadIdx.x < 32;
        const int extent = is_y ? level.height : level.width;
        const int first = clamp_to_pixel(floor(is_y ? touched.top : touched.left), extent),
                  end = clamp_to_pixel(ceil(is_y ? touched.bottom : touched.right) + R(1), extent);
        fill_pixels(is_y ? bins.roi.y : bins.roi.x, is_y ? args.out_height : args.out_width, extent, first, end,
                    is_y ? rows : columns);
    }
    __syncthreads();
    const bool fits = rows.pixels <= max_pixels && rows.used <= max_weights && columns.pixels <= max_pixels &&
                      columns.used <= max_weights && (channels_last || args.out_height <= max_rows<R>);
    if (!fits)
        return scatter_region<T, false, channels_last>(
            args, bins, k, static_cast<long long>(blockIdx.y) * separable_threads + threadIdx.x,
            static_cast<long long>(gridDim.y) * separable_threads);
    const FeatureMap& map = level.gradients;
    const T* in = static_cast<const T*>(args.pooled.data) + k * args.pooled.n_stride;
    R* out = static_cast<R*>(map.data) + bins.n * map.n_stride;
    if constexpr (channels_last)
        scatter_channels(args, map, in, rows, columns, out);
    else
        scatter_planes(args, map, in, rows, columns, out, sums);
}

}  // namespace cuaug
