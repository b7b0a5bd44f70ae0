#include "gpu/roi_parts.cuh"
#include "gpu/roi_walk.cuh"

namespace cuaug {

constexpr int average_threads = 256, average_warps = average_threads / 32;
template <class R> constexpr int most_sums = 4096 / sizeof(R);  // of a warp

// A column of two channels, summed over the rows of a bin. Four rows are asked for at a time: the wait for memory is what this takes.
template <class T, class R>
inline void sum_rows(const Maps& maps, const T* one, const T* other, const AxisParts<R>& down, int bin, R (&sum)[2]) {
    constexpr int rows = 4;
    sum[0] = sum[1] = 0;
    for (int r = down.first[bin]; r < down.end[bin]; r += rows) {
        T pixel[2][rows] = {};
        R weight[rows] = {};
        for (int i = 0; i < rows; ++i) {
            if (r + i >= down.end[bin]) continue;
            const Part<R> part = down.part[r + i];
            const long long offset = part.at * maps.y;
            weight[i] = part.weight, pixel[0][i] = one[offset], pixel[1][i] = other[offset];
        }
        for (int i = 0; i < rows; ++i) sum[0] += weight[i] * to_real<R>(pixel[0][i]), sum[1] += weight[i] * to_real<R>(pixel[1][i]);
    }
}

// Channels in planes, some to each warp: first the columns that bins are made of, each summed over the rows of a bin, by lanes side by side in a
// row of the map; then the bins, side by side in the result. What has too many sums for all rows of bins at once goes through them in bands.
template <class T, class R>
inline void average_planes(const Pooling& args, const Maps& maps, const T* in, const AxisParts<R>& down, const AxisParts<R>& across, T* out, R* sums) {
    const unsigned int columns = across.used, width = args.out_width, lane = threadIdx.x % 32;
    const int height = args.out_height, band = min(height, most_sums<R> / max(across.used, 1)), part = blockIdx.y, parts = gridDim.y;
    const int first = static_cast<int>(static_cast<long long>(args.channels) * part / parts), last = static_cast<int>(static_cast<long long>(args.channels) * (part + 1) / parts);
    const int most = max(most_sums<R> / max(height * across.used, 1), 1), rounds = (last - first + average_warps * most - 1) / (average_warps * most);
    const int chunk = max((last - first + average_warps * rounds - 1) / max(average_warps * rounds, 1), 1);
    for (int c = first + static_cast<int>(threadIdx.x / 32) * chunk; c < last; c += average_warps * chunk) {
        const unsigned int count = min(chunk, last - c), pairs = (count + 1) / 2;
        for (int top = 0; top < height; top += band) {
            const int high = min(band, height - top);
            for (unsigned int item = lane; item < pairs * columns; item += 32) {
                const unsigned int pair = item / columns, i = item - pair * columns, one = 2 * pair, other = min(one + 1, count - 1);
                const T* column = in + (c + one) * maps.c + across.part[i].at * maps.x;
                for (int y = 0; y < high; ++y) {
                    R sum[2];
                    sum_rows(maps, column, column + (other - one) * maps.c, down, top + y, sum);
                    sums[(one * high + y) * columns + i] = sum[0];
                    sums[(other * high + y) * columns + i] = other == one ? sum[0] : sum[1];
                }
            }
            __syncwarp();
            for (unsigned int item = lane; item < count * high * width; item += 32) {
                const unsigned int row = item / width, x = item - row * width;
                R sum = 0;
                for (int p = across.first[x]; p < across.end[x]; ++p) sum += across.part[p].weight * sums[row * columns + p];
                out[c * args.pooled.c + top * args.pooled.y + item] = from_real<T>(sum);
            }
            __syncwarp();
        }
    }
}

// Channels side by side: a thread makes a bin of as many as are one vector.
template <int wide, class T, class R>
inline void average_vectors(const Pooling& args, const Maps& maps, const T* in, const AxisParts<R>& down, const AxisParts<R>& across, T* out) {
    const unsigned int groups = args.channels / wide, width = args.out_width;
    const long long items = static_cast<long long>(args.out_height) * args.out_width * groups;
    for (long long item = static_cast<long long>(blockIdx.y) * average_threads + threadIdx.x; item < items; item += static_cast<long long>(gridDim.y) * average_threads) {
        const unsigned int bin = static_cast<unsigned int>(item / groups), c = wide * static_cast<unsigned int>(item % groups), y = bin / width, x = bin % width;
        R sum[wide] = {};
        for (int r = down.first[y]; r < down.end[y]; ++r) {
            const T* row = in + c * maps.c + down.part[r].at * maps.y;
            for (int p = across.first[x]; p < across.end[x]; ++p) {
                const R weight = down.part[r].weight * across.part[p].weight;
                R pixel[wide];
                read_channels<wide>(row + across.part[p].at * maps.x, 1, 0, pixel);
                for (int j = 0; j < wide; ++j) sum[j] += weight * pixel[j];
            }
        }
        write_channels<wide>(out + c * args.pooled.c + y * args.pooled.y + x * args.pooled.x, 1, 0, sum);
    }
}

// A block averages some channels of an upright region, or some of its bins. What has too many parts it walks through sample by sample.
// Grid: (regions, parts).
template <class T, int wide>
__global__ void __launch_bounds__(average_threads, wide == 0 && sizeof(Real<T>) == 8 ? 2 : 3) roi_average(const __grid_constant__ Pooling args) {
    using R = Real<T>;
    __shared__ AxisParts<R> down, across;
    __shared__ R sums[wide == 0 ? average_warps : 1][wide == 0 ? most_sums<R> : 1];
    if (threadIdx.x == 0) down.used = across.used = 0;
    __syncthreads();
    const long long k = blockIdx.x;
    const SampledBins<R> shape(args, k);
    const bool few = shape.n >= 0 && args.out_height <= most_bins && args.out_width <= most_bins;
    const int bin = threadIdx.x % most_bins, axis = threadIdx.x / most_bins;
    if (few && axis == 0 && bin < args.out_height) find_parts(shape.roi.y, bin, shape.level->height, down);
    if (few && axis == 1 && bin < args.out_width) find_parts(shape.roi.x, bin, shape.level->width, across);
    __syncthreads();
    const bool fits = few && down.used <= most_parts && across.used <= most_parts;
    if (!fits) return walk_region<T, Take::average, 1>(args, shape, k, static_cast<long long>(blockIdx.y) * average_threads + threadIdx.x, static_cast<long long>(gridDim.y) * average_threads);
    const Maps& maps = shape.level->values;
    const T* in = static_cast<const T*>(maps.data) + shape.n * maps.n;
    T* out = static_cast<T*>(args.pooled.data) + k * args.pooled.n;
    if constexpr (wide == 0) average_planes(args, maps, in, down, across, out, sums[threadIdx.x / 32]);
    else average_vectors<wide>(args, maps, in, down, across, out);
}

}  // namespace cuaug
