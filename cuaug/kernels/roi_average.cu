#include "gpu/roi_parts.cuh"
#include "gpu/roi_walk.cuh"

namespace cuaug {

constexpr int average_threads = 256;
template <class R> constexpr int most_sums = 16384 / sizeof(R);

// Channels in planes: first the columns that bins are made of, each summed over the rows of a bin, by threads side by side in a row of
// the map; then the bins, side by side in the result.
template <class T, class R>
inline void average_planes(const Pooling& args, const Maps& maps, const T* in, const AxisParts<R>& down, const AxisParts<R>& across, T* out, R* sums) {
    const unsigned int columns = across.used, height = args.out_height, width = args.out_width;
    const int chunk = most_sums<R> / max(height * columns, 1u), part = blockIdx.y, parts = gridDim.y;
    const int first = static_cast<int>(static_cast<long long>(args.channels) * part / parts), last = static_cast<int>(static_cast<long long>(args.channels) * (part + 1) / parts);
    for (int c = first; c < last; c += chunk) {
        const unsigned int count = min(chunk, last - c);
        for (unsigned int item = threadIdx.x; item < count * columns; item += average_threads) {
            const unsigned int channel = item / columns, i = item - channel * columns;
            const T* column = in + (c + channel) * maps.c + across.part[i].at * maps.x;
            R* to = sums + channel * height * columns + i;
            for (unsigned int y = 0; y < height; ++y) {
                R sum = 0;
                for (int r = down.first[y]; r < down.end[y]; ++r) sum += down.part[r].weight * to_real<R>(column[down.part[r].at * maps.y]);
                to[y * columns] = sum;
            }
        }
        __syncthreads();
        for (unsigned int item = threadIdx.x; item < count * height * width; item += average_threads) {
            const unsigned int row = item / width, x = item - row * width;
            R sum = 0;
            for (int p = across.first[x]; p < across.end[x]; ++p) sum += across.part[p].weight * sums[row * columns + p];
            out[c * args.pooled.c + item] = from_real<T>(sum);
        }
        __syncthreads();
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
__global__ void __launch_bounds__(average_threads, wide == 0 ? 2 : 3) roi_average(const __grid_constant__ Pooling args) {
    using R = Real<T>;
    __shared__ AxisParts<R> down, across;
    __shared__ R sums[wide == 0 ? most_sums<R> : 1];
    if (threadIdx.x == 0) down.used = across.used = 0;
    __syncthreads();
    const long long k = blockIdx.x;
    const SampledBins<R> shape(args, k);
    const bool few = shape.n >= 0 && args.out_height <= most_bins && args.out_width <= most_bins;
    const int bin = threadIdx.x % most_bins, axis = threadIdx.x / most_bins;
    if (few && axis == 0 && bin < args.out_height) find_parts(shape.roi.y, bin, shape.level->height, down);
    if (few && axis == 1 && bin < args.out_width) find_parts(shape.roi.x, bin, shape.level->width, across);
    __syncthreads();
    const bool fits = few && down.used <= most_parts && across.used <= most_parts && (wide > 0 || args.out_height * across.used <= most_sums<R>);
    if (!fits) return walk_region<T, Take::average, 1>(args, shape, k, static_cast<long long>(blockIdx.y) * average_threads + threadIdx.x, static_cast<long long>(gridDim.y) * average_threads);
    const Maps& maps = shape.level->values;
    const T* in = static_cast<const T*>(maps.data) + shape.n * maps.n;
    T* out = static_cast<T*>(args.pooled.data) + k * args.pooled.n;
    if constexpr (wide == 0) average_planes(args, maps, in, down, across, out, sums);
    else average_vectors<wide>(args, maps, in, down, across, out);
}

}  // namespace cuaug
