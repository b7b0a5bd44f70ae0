#include "detection/roi_axis_weights.cuh"
#include "detection/roi_by_sample.cuh"

namespace cuaug {

constexpr int average_threads = 256, average_warps = average_threads / 32;
template <class R>
constexpr int lane_channels = sizeof(R) == 8 ? 4 : 8;  // in planes, of a warp and each of its lanes at a time
template <class R>
constexpr int most_sums = sizeof(R) == 8 ? 512 : 1152;  // of a warp
constexpr int rows_ahead =
    4;  // all that a bin of two samples has. 8 channels of 4 rows are 32 values in flight, as many as 80 registers bear

// Where a block reads, and of channels in planes how its warps share out the work.
template <class R>
struct Share {
    const void* in;                   // the region's sample
    long long c;                      // stride of its channels
    int column[most_parts], columns;  // offsets of the region's columns, each once
    int lower, further;  // where the 32nd column from here is: so many rows of bins below, and so many columns right
    int first, last;     // channels of the block
    int chunk;           // of them, of a warp at a time
    int bands, band;     // of how many rows of bins: as many as it has sums for
    int apart;           // sums of one channel
};

// A warp's work: neighbouring bins have columns in common. What a part of a bin then holds of its column is not the
// offset but the number.
template <class R>
inline void find_columns(const Pooling& args, int used, AxisParts<R>& across, Share<R>& share) {
    constexpr int W = lane_channels<R>;
    const int lane = threadIdx.x % 32;
    int count = 0;
    for (int start = 0; start < used; start += 32) {
        const int p = start + lane, offset = p < used ? across.part[p].offset : 0;
        const int leader = __ffs(__match_any_sync(0xffffffffu, offset)) - 1;
        const unsigned int leaders = __ballot_sync(0xffffffffu, p < used && leader == lane);
        const int number = count + __popc(leaders & ((1u << leader) - 1));
        if (p < used) across.part[p].offset = number, share.column[number] = offset;
        count += __popc(leaders);
    }
    if (lane > 0) return;
    const long long part = blockIdx.y, parts = gridDim.y;
    const int some = max(count, 1), rows = most_sums<R> / some;
    share.columns = count, share.lower = 32 / some, share.further = 32 % some;
    share.first = static_cast<int>(args.channels * part / parts),
    share.last = static_cast<int>(args.channels * (part + 1) / parts);
    share.chunk = rows < W ? W / 2 : W;
    share.bands = (args.out_height + rows / share.chunk - 1) / (rows / share.chunk);
    share.band = (args.out_height + share.bands - 1) / share.bands;
    share.apart = share.band * count;
}

// A pointer of which the compiler knows nothing else, so that it adds an offset to it in one instruction, and not to
// what it is made of in four.
template <class T>
inline const T* unknown(const T* pointer) {
    asm("" : "+l"(pointer));
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}

// Likewise a number: what is made of it is made when it is needed, and takes no register before.
inline int unknown(int number) {
    asm volatile("" : "+r"(number));
    return number;
}

// Four rows of a column of some channels, weighted and added up. All of them are asked for before any is needed: the
// wait for memory is longer than all else.
template <int W, class T, class R>
inline void sum_rows(const T* column, const int (&channel)[W], const PartAt<R>* row, int rows, R (&sum)[W]) {
    T pixel[rows_ahead][W];
    for (int i = 0; i < rows_ahead; ++i) {
        if (i >= rows) break;
        const T* at = unknown(column + row[i].offset);
        for (int j = 0; j < W; ++j) pixel[i][j] = at[j == 0 ? 0 : unknown(channel[j])];
    }
    for (int j = 0; j < W; ++j) sum[j] = 0;
    for (int i = 0; i < rows_ahead; ++i) {
        if (i >= rows) break;
        for (int j = 0; j < W; ++j) sum[j] += row[i].weight * to_compute<R>(pixel[i][j]);
    }
}

// Some channels of a band of bins, which a warp works on at a time. Worked out anew for each step of it, so that no
// register is held for it.
struct Band {
    int c, count, top, high;
};

template <class R>
inline Band band_of(const Pooling& args, const Share<R>& share, int unit) {
    const int c = share.first + unit / share.bands * share.chunk, top = unit % share.bands * share.band;
    return {c, min(share.chunk, share.last - c), top, min(share.band, args.out_height - top)};
}

// The columns of a band, each summed over the rows of a bin: [chunk, high, columns]. All lanes work, side by side in a
// row of the map and on into the next row of bins.
template <class T, class R>
inline void sum_bins(const Pooling& args, const AxisParts<R>& down, const Share<R>& share, int unit,
                     R (*sums)[most_sums<R>]) {
    constexpr int W = lane_channels<R>;
    const Band band = band_of(args, share, unit);
    const T* in = unknown(static_cast<const T*>(share.in) + band.c * share.c);
    int channel[W];
    for (int j = 0; j < W; ++j) channel[j] = min(j, band.count - 1) * static_cast<int>(share.c);
    const unsigned int lane = threadIdx.x % 32, width = share.columns;
    if (width == 0) return;
    const int end_y = band.top + band.high;
    int y = band.top + lane / width, i = lane % width;
    for (R* to = sums[unknown(threadIdx.x / 32)] + lane; y < end_y; to += 32) {
        const T* column = unknown(in + share.column[i]);
        const int first = down.first[y], end = down.end[y];
        int r = first;
        do {
            R sum[W];
            sum_rows<W>(column, channel, down.part + r, end - r, sum);
            const int apart = unknown(share.apart);
            const bool all = share.chunk == W;
            for (int j = 0; j < W; ++j)
                if (r > first && (j < W / 2 || all)) sum[j] += to[j * apart];
            for (int j = 0; j < W; ++j)
                if (j < W / 2 || all) to[j * apart] = sum[j];
            r += rows_ahead;
        } while (r < end);
        i += share.further, y += share.lower;
        if (i >= share.columns) i -= share.columns, ++y;
    }
}

// A band of bins, of the sums of its columns. A lane keeps its column of bins, and so its weights.
template <class T, class R>
inline void sum_columns(const Pooling& args, const AxisParts<R>& across, const Share<R>& share, int unit,
                        const R (*sums)[most_sums<R>]) {
    constexpr int usual = 4;
    const Band band = band_of(args, share, unit);
    const int lane = threadIdx.x % 32, width = args.out_width, each = min(width, 32), step = 32 / each;
    if (lane >= step * each) return;
    for (int x = lane % each; x < width; x += each) {
        const int first = across.first[x], parts = across.end[x] - first;
        PartAt<R> part[usual];
        for (int i = 0; i < usual; ++i)
            if (i < parts) part[i] = across.part[first + i];
        for (int c = lane / each; c < band.count; c += step) {
            const R* row = sums[threadIdx.x / 32] + c * share.apart;
            T* to = static_cast<T*>(args.pooled.data) + blockIdx.x * args.pooled.n + (band.c + c) * args.pooled.c +
                    band.top * args.pooled.y + x;
#pragma unroll 1
            for (int y = 0; y < band.high; ++y, row += share.columns, to += args.pooled.y) {
                R sum = 0;
                for (int i = 0; i < usual; ++i)
                    if (i < parts) sum += part[i].weight * row[part[i].offset];
#pragma unroll 1
                for (int i = usual; i < parts; ++i)
                    sum += across.part[first + i].weight * row[across.part[first + i].offset];
                *to = saturate_cast<T>(sum);
            }
        }
    }
}

// Channels in planes: first the columns that bins are made of, each summed over the rows of a bin; then the bins, side
// by side in the result.
template <class T, class R>
inline void average_planes(const Pooling& args, const AxisParts<R>& down, const AxisParts<R>& across,
                           const Share<R>& share, R (*sums)[most_sums<R>]) {
    for (int unit = threadIdx.x / 32; unit < (share.last - share.first + share.chunk - 1) / share.chunk * share.bands;
         unit += average_warps) {
        sum_bins<T>(args, down, share, unit, sums);
        __syncwarp();
        sum_columns<T>(args, across, share, unit, sums);
        __syncwarp();
    }
}

// Channels side by side: a thread makes a bin of as many as are one vector.
template <int wide, class T, class R>
inline void average_vectors(const Pooling& args, const AxisParts<R>& down, const AxisParts<R>& across,
                            const Share<R>& share) {
    const unsigned int groups = args.channels / wide, width = args.out_width, items = args.out_height * width * groups;
    for (unsigned int item = blockIdx.y * average_threads + threadIdx.x; item < items;
         item += gridDim.y * average_threads) {
        const unsigned int bin = item / groups, c = wide * (item % groups), y = bin / width, x = bin % width;
        const T* in = unknown(static_cast<const T*>(share.in) + (wide > 1 ? c : c * share.c));
        R sum[wide] = {};
        for (int r = down.first[y]; r < down.end[y]; ++r) {
            const T* row = unknown(in + down.part[r].offset);
#pragma unroll 4  // more take more registers than there are
            for (int p = across.first[x]; p < across.end[x]; ++p) {
                const R weight = down.part[r].weight * across.part[p].weight;
                R pixel[wide];
                read_channels<wide>(row + across.part[p].offset, 1, 0, pixel);
                for (int j = 0; j < wide; ++j) sum[j] += weight * pixel[j];
            }
        }
        write_channels<wide>(static_cast<T*>(args.pooled.data) + blockIdx.x * args.pooled.n + c * args.pooled.c +
                                 y * args.pooled.y + x * args.pooled.x,
                             1, 0, sum);
    }
}

// A block averages some channels of an upright region, or some of its bins. What has too many parts it walks through
// sample by sample. Grid: (regions, parts).
template <class T, int wide>
__global__ void __launch_bounds__(average_threads, sizeof(ComputeType<T>) == 8 ? 2 : 3)
    roi_average(const __grid_constant__ Pooling args) {
    using R = ComputeType<T>;
    __shared__ AxisParts<R> parts[2];
    __shared__ Share<R> share;
    __shared__ SampledBins<R> shape;
    __shared__ R sums[wide == 0 ? average_warps : 1][wide == 0 ? most_sums<R> : 1];
    AxisParts<R>&down = parts[0], &across = parts[1];
    const long long k = blockIdx.x;
    if (threadIdx.x < 64) {  // a warp for each axis
        const int axis = threadIdx.x / 32, lane = threadIdx.x % 32, bins = axis == 0 ? args.out_height : args.out_width;
        const SampledBins<R> own(args, k);
        const Maps& maps = own.level->values;
        RoiAxis<R> along = own.roi.y;
        if (axis == 1) along = own.roi.x;
        const int extent = axis == 0 ? own.level->height : own.level->width;
        const long long stride = axis == 0 ? maps.y : maps.x;
        const bool few = own.n >= 0 && bins <= most_bins && has_short_offsets(extent, stride) &&
                         (wide > 0 || has_short_offsets(lane_channels<R>, maps.c));
        if (threadIdx.x == 0)
            shape = own, share.in = static_cast<const T*>(maps.data) + own.n * maps.n, share.c = maps.c;
        const int used = few ? find_parts(along, bins, extent, stride, parts[axis]) : most_parts + 1;
        if (lane == 0) parts[axis].used = used;
        __syncwarp();
        if (wide == 0 && axis == 1 && used <= most_parts) find_columns(args, used, across, share);
    }
    __syncthreads();
    if (down.used > most_parts || across.used > most_parts)
        return walk_region<T, Take::average, 1>(args, shape, k,
                                                static_cast<long long>(blockIdx.y) * average_threads + threadIdx.x,
                                                static_cast<long long>(gridDim.y) * average_threads);
    if constexpr (wide == 0) {
        average_planes<T>(args, down, across, share, sums);
    } else {
        average_vectors<wide, T>(args, down, across, share);
    }
}

}  // namespace cuaug
