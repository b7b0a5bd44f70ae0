#include "gpu/roi_parts.cuh"
#include "gpu/roi_walk.cuh"

namespace cuaug {

constexpr int average_threads = 256, average_warps = average_threads / 32;
constexpr int warp_channels = 32, lane_channels = 4;          // in planes, at a time
template <class R> constexpr int most_sums = sizeof(R) == 8 ? 512 : 1152;  // of a warp

// A pointer of which the compiler knows nothing else, so that it adds an offset to it in one instruction, and not to what it is made of in four.
template <class T>
inline const T* unknown(const T* pointer) {
    asm("" : "+l"(pointer));
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}

// A column of four channels, summed over the rows of a bin. Sixteen values are asked for before any of them is needed: the wait for memory is
// longer than all else.
template <class T, class R>
inline void sum_rows(const T* const (&column)[lane_channels], const AxisParts<R>& down, int bin, R (&sum)[lane_channels]) {
    constexpr int rows = 4;
    const int end = down.end[bin];
    for (int j = 0; j < lane_channels; ++j) sum[j] = 0;
    for (int r = down.first[bin]; r < end; r += rows) {
        T pixel[rows][lane_channels];
        R weight[rows];
        for (int i = 0; i < rows; ++i) {
            if (r + i >= end) break;
            const PartAt<R> part = down.part[r + i];
            weight[i] = part.weight;
            for (int j = 0; j < lane_channels; ++j) pixel[i][j] = column[j][part.offset];
        }
        for (int i = 0; i < rows; ++i)
            if (r + i < end)
                for (int j = 0; j < lane_channels; ++j) sum[j] += weight[i] * to_real<R>(pixel[i][j]);
    }
}

// Rows of bins `top` and on of some channels, of the sums of columns: [count, high, columns]. A lane keeps its column of bins, and so its weights.
template <class T, class R>
inline void sum_columns(const Pooling& args, const AxisParts<R>& across, const R* sums, int count, int top, int high, T* out) {
    constexpr int usual = 4;
    const int lane = threadIdx.x % 32, width = args.out_width, each = min(width, 32), step = 32 / each, columns = across.used;
    if (lane >= step * each) return;
    for (int x = lane % each; x < width; x += each) {
        const int first = across.first[x], parts = across.end[x] - first;
        R weight[usual];
        for (int i = 0; i < usual; ++i) weight[i] = i < parts ? across.part[first + i].weight : R(0);
        for (int y = 0; y < high; ++y) {
            const R* column = sums + (lane / each * high + y) * columns + first;
            T* to = out + lane / each * args.pooled.c + (top + y) * args.pooled.y + x;
            #pragma unroll 1
            for (int c = lane / each; c < count; c += step, column += step * high * columns, to += step * args.pooled.c) {
                R sum = 0;
                for (int i = 0; i < usual; ++i)
                    if (i < parts) sum += weight[i] * column[i];
                #pragma unroll 1
                for (int i = usual; i < parts; ++i) sum += across.part[first + i].weight * column[i];
                *to = from_real<T>(sum);
            }
        }
    }
}

// Channels in planes, some to each warp, and as many rows of bins as it has sums for: first the columns that bins are made of, each summed over
// the rows of a bin, by lanes side by side in a row of the map; then the bins, side by side in the result.
template <class T, class R>
inline void average_planes(const Pooling& args, const Maps& maps, const T* in, const AxisParts<R>& down, const AxisParts<R>& across, T* out, R* sums) {
    const unsigned int columns = across.used, lane = threadIdx.x % 32;
    const long long part = blockIdx.y, parts = gridDim.y;
    const int first = static_cast<int>(args.channels * part / parts), last = static_cast<int>(args.channels * (part + 1) / parts), rows = most_sums<R> / max(across.used, 1);
    const int share = min((last - first + average_warps - 1) / average_warps, min(warp_channels, rows)), chunk = max(share / lane_channels, 1) * lane_channels;
    const int band = min(rows / chunk, args.out_height);
    for (int c = first + static_cast<int>(threadIdx.x / 32) * chunk; c < last; c += average_warps * chunk) {
        const int count = min(chunk, last - c);
        const unsigned int groups = (count + lane_channels - 1) / lane_channels;
        for (int top = 0; top < args.out_height; top += band) {
            const int high = min(band, args.out_height - top);
            for (unsigned int item = lane; item < groups * columns; item += 32) {
                const unsigned int group = item / columns, i = item - group * columns;
                const int own = group * lane_channels;
                const T* column[lane_channels];
                for (int j = 0; j < lane_channels; ++j) column[j] = unknown(in + (c + min(own + j, count - 1)) * maps.c + across.part[i].offset);
                R* to = sums + own * high * columns + i;  // channels after the last have room, too
                for (int y = 0; y < high; ++y, to += columns) {
                    R sum[lane_channels];
                    sum_rows(column, down, top + y, sum);
                    for (int j = 0; j < lane_channels; ++j) to[j * high * columns] = sum[j];
                }
            }
            __syncwarp();
            sum_columns(args, across, sums, count, top, high, out + c * args.pooled.c);
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
            const T* row = in + c * maps.c + down.part[r].offset;
            for (int p = across.first[x]; p < across.end[x]; ++p) {
                const R weight = down.part[r].weight * across.part[p].weight;
                R pixel[wide];
                read_channels<wide>(row + across.part[p].offset, 1, 0, pixel);
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
    const Maps& maps = shape.level->values;
    const bool few = shape.n >= 0 && args.out_height <= most_bins && args.out_width <= most_bins && has_short_offsets(shape.level->height, maps.y) && has_short_offsets(shape.level->width, maps.x);
    const int bin = threadIdx.x % most_bins, axis = threadIdx.x / most_bins;
    if (few && axis == 0 && bin < args.out_height) find_parts(shape.roi.y, bin, shape.level->height, maps.y, down);
    if (few && axis == 1 && bin < args.out_width) find_parts(shape.roi.x, bin, shape.level->width, maps.x, across);
    __syncthreads();
    const bool fits = few && down.used <= most_parts && across.used <= most_parts && (wide > 0 || across.used * lane_channels <= most_sums<R>);
    if (!fits) return walk_region<T, Take::average, 1>(args, shape, k, static_cast<long long>(blockIdx.y) * average_threads + threadIdx.x, static_cast<long long>(gridDim.y) * average_threads);
    const T* in = static_cast<const T*>(maps.data) + shape.n * maps.n;
    T* out = static_cast<T*>(args.pooled.data) + k * args.pooled.n;
    if constexpr (wide == 0) average_planes(args, maps, in, down, across, out, sums[threadIdx.x / 32]);
    else average_vectors<wide>(args, maps, in, down, across, out);
}

}  // namespace cuaug
