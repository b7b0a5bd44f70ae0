#include "detection/roi_axis_weights.cuh"
#include "detection/roi_by_point.cuh"
#include "gpu/word_pixel.cuh"

namespace cuaug {

constexpr int average_threads = 256, average_warps = average_threads / 32;
template <class R>
constexpr int lane_channels = sizeof(R) == 8 ? 4 : 8;  // the most planar channels that a lane works on at a time
template <class R>
constexpr int max_sums = sizeof(R) == 8 ? 512 : 1152;  // of a warp, in shared memory
// Rows that are loaded at a time: all rows of a bin of two sampling points along y. 8 channels of 4 rows are 32 values
// in flight, as many as fit into 80 registers.
constexpr int rows_in_flight = 4;

// The input of a block, and how its warps divide the work on planar channels. A band is some rows of bins.
template <class R>
struct WorkSplit {
    const void* in;            // the region's sample
    long long channel_stride;  // of `in`
    // The columns of the map that the region reads, and their number; a few may come twice (`divide_work`).
    int column_offset[max_weights], columns;
    int row_step, column_step;  // 32 columns further on is `row_step` rows of bins down and `column_step` columns right
    int first, end;             // channels of the block: first .. end - 1
    int chunk_channels;         // channels that a warp works on at a time: lane_channels or half of them
    int bands, band_rows;       // as few bands as `max_sums` allows, of about equal height
    int sum_stride;             // from the sums of one channel to those of the next
};

// Fills `split`, except for the input; called by one warp. Adjacent bins share columns of the map: the offset of each
// entry of `columns` is replaced by the number of its column. Only entries of the same group of 32 share a number.
template <class R>
inline void divide_work(const RoiRecord& args, int used, AxisBins<R>& columns, WorkSplit<R>& split) {
    constexpr int W = lane_channels<R>;
    const int lane = threadIdx.x % 32;
    int count = 0;
    for (int start = 0; start < used; start += 32) {
        const int i = start + lane, offset = i < used ? columns.entry[i].offset : 0;
        const int leader = __ffs(__match_any_sync(0xffffffffu, offset)) - 1;
        const unsigned int leaders = __ballot_sync(0xffffffffu, i < used && leader == lane);
        const int number = count + __popc(leaders & ((1u << leader) - 1));
        if (i < used) columns.entry[i].offset = number, split.column_offset[number] = offset;
        count += __popc(leaders);
    }
    if (lane > 0) return;
    const long long part = blockIdx.y, parts = gridDim.y;
    static_assert(max_sums<R> / max_weights >= W / 2, "a band would have no row");
    const int divisor = max(count, 1), rows = max_sums<R> / divisor;
    split.columns = count, split.row_step = 32 / divisor, split.column_step = 32 % divisor;
    split.first = static_cast<int>(args.channels * part / parts),
    split.end = static_cast<int>(args.channels * (part + 1) / parts);
    split.chunk_channels = rows < W ? W / 2 : W;
    split.bands = (args.out_height + rows / split.chunk_channels - 1) / (rows / split.chunk_channels);
    split.band_rows = (args.out_height + split.bands - 1) / split.bands;
    split.sum_stride = split.band_rows * count;
}

// A pointer whose origin the compiler cannot see. The compiler then adds an offset to the pointer, in one instruction.
// Otherwise it adds the offset to the terms that the pointer is computed from, in four.
template <class T>
inline const T* opaque(const T* pointer) {
    asm("" : "+l"(pointer));
    __builtin_assume(__isGlobal(pointer));
    return pointer;
}

// Sums up to four weighted rows of a column, for the channels at W offsets. All loads are issued before the first value
// is used, as the wait for memory takes longer than all else.
template <int W, class T, class R>
inline void sum_rows(const T* column, const int (&offset)[W], const OffsetWeight<R>* row, int rows, R (&sum)[W]) {
    T pixel[rows_in_flight][W];
    for (int i = 0; i < rows_in_flight; ++i) {
        if (i >= rows) break;
        const T* ptr = opaque(column + row[i].offset);
        for (int j = 0; j < W; ++j) pixel[i][j] = ptr[j == 0 ? 0 : opaque(offset[j])];
    }
    for (int j = 0; j < W; ++j) sum[j] = 0;
    for (int i = 0; i < rows_in_flight; ++i) {
        if (i >= rows) break;
        for (int j = 0; j < W; ++j) sum[j] += row[i].weight * to_compute<R>(pixel[i][j]);
    }
}

// Some channels of a band of bins: what a warp works on at a time. Recomputed for each step, so that it occupies no
// registers.
struct WorkUnit {
    int c, channels, top, rows;  // channels c .. c + channels - 1, and rows of bins top .. top + rows - 1
};

template <class R>
inline WorkUnit work_unit(const RoiRecord& args, const WorkSplit<R>& split, int unit) {
    const int c = split.first + unit / split.bands * split.chunk_channels, top = unit % split.bands * split.band_rows;
    return {c, min(split.chunk_channels, split.end - c), top, min(split.band_rows, args.out_height - top)};
}

// Sums each column of a band over the rows of each bin. A warp's `sums` are [chunk_channels, band_rows, columns]. Lanes
// take consecutive columns, and continue in the next row of bins.
template <class T, class R>
inline void sum_band_rows(const RoiRecord& args, const AxisBins<R>& rows, const WorkSplit<R>& split, int unit_index,
                          R (*sums)[max_sums<R>]) {
    constexpr int W = lane_channels<R>;
    const WorkUnit unit = work_unit(args, split, unit_index);
    const T* in = opaque(static_cast<const T*>(split.in) + unit.c * split.channel_stride);
    int offset[W];  // of channels
    for (int j = 0; j < W; ++j) offset[j] = min(j, unit.channels - 1) * static_cast<int>(split.channel_stride);
    const unsigned int lane = threadIdx.x % 32, width = split.columns;
    if (width == 0) return;
    const int end_y = unit.top + unit.rows;
    int y = unit.top + lane / width, i = lane % width;
    for (R* out = sums[opaque(static_cast<int>(threadIdx.x / 32))] + lane; y < end_y; out += 32) {
        const T* column = opaque(in + split.column_offset[i]);
        const int first = rows.first[y], end = rows.end[y];
        int r = first;
        do {
            R sum[W];
            sum_rows<W>(column, offset, rows.entry + r, end - r, sum);
            const int stride = opaque(split.sum_stride);
            const bool full_chunk = split.chunk_channels == W;
            for (int j = 0; j < W; ++j)
                if (r > first && (j < W / 2 || full_chunk)) sum[j] += out[j * stride];
            for (int j = 0; j < W; ++j)
                if (j < W / 2 || full_chunk) out[j * stride] = sum[j];
            r += rows_in_flight;
        } while (r < end);
        i += split.column_step, y += split.row_step;
        if (i >= split.columns) i -= split.columns, ++y;
    }
}

// Sums the column sums of a band to bins. A lane computes one column of bins at a time, with its first weights in
// registers.
template <class T, class R>
inline void sum_band_columns(const RoiRecord& args, const AxisBins<R>& columns, const WorkSplit<R>& split,
                             int unit_index, const R (*sums)[max_sums<R>]) {
    constexpr int in_registers = 4;
    const WorkUnit unit = work_unit(args, split, unit_index);
    const int lane = threadIdx.x % 32, width = args.out_width, lanes = min(width, 32), step = 32 / lanes;
    if (lane >= step * lanes) return;
    for (int x = lane % lanes; x < width; x += lanes) {
        const int first = columns.first[x], entries = columns.end[x] - first;
        OffsetWeight<R> entry[in_registers];
        for (int i = 0; i < in_registers; ++i)
            if (i < entries) entry[i] = columns.entry[first + i];
        for (int c = lane / lanes; c < unit.channels; c += step) {
            const R* row = sums[threadIdx.x / 32] + c * split.sum_stride;
            T* out = static_cast<T*>(args.pooled.data) + blockIdx.x * args.pooled.n_stride +
                     (unit.c + c) * args.pooled.c_stride + unit.top * args.pooled.y_stride + x;
#pragma unroll 1
            for (int y = 0; y < unit.rows; ++y, row += split.columns, out += args.pooled.y_stride) {
                R sum = 0;
                for (int i = 0; i < in_registers; ++i)
                    if (i < entries) sum += entry[i].weight * row[entry[i].offset];
#pragma unroll 1
                for (int i = in_registers; i < entries; ++i)
                    sum += columns.entry[first + i].weight * row[columns.entry[first + i].offset];
                *out = saturate_cast<T>(sum);
            }
        }
    }
}

// Planar channels: each column is summed over the rows of a bin, then the columns of a bin are summed. So lanes read
// adjacent pixels, if the bins skip none, and write adjacent results.
template <class T, class R>
inline void average_planes(const RoiRecord& args, const AxisBins<R>& rows, const AxisBins<R>& columns,
                           const WorkSplit<R>& split, R (*sums)[max_sums<R>]) {
    for (int unit = threadIdx.x / 32;
         unit < (split.end - split.first + split.chunk_channels - 1) / split.chunk_channels * split.bands;
         unit += average_warps) {
        sum_band_rows<T>(args, rows, split, unit, sums);
        __syncwarp();
        sum_band_columns<T>(args, columns, split, unit, sums);
        __syncwarp();
    }
}

// Channels last: a thread computes one bin for one vector of channels.
template <int vector, class T, class R>
inline void average_vectors(const RoiRecord& args, const AxisBins<R>& rows, const AxisBins<R>& columns,
                            const WorkSplit<R>& split) {
    const unsigned int groups = args.channels / vector, width = args.out_width,
                       items = args.out_height * width * groups;
    for (unsigned int item = blockIdx.y * average_threads + threadIdx.x; item < items;
         item += gridDim.y * average_threads) {
        const unsigned int bin = item / groups, c = vector * (item % groups), y = bin / width, x = bin % width;
        const T* in = opaque(static_cast<const T*>(split.in) + (vector > 1 ? c : c * split.channel_stride));
        R sum[vector] = {};
        for (int r = rows.first[y]; r < rows.end[y]; ++r) {
            const T* row = opaque(in + rows.entry[r].offset);
#pragma unroll 4  // more would spill registers
            for (int i = columns.first[x]; i < columns.end[x]; ++i) {
                const R weight = rows.entry[r].weight * columns.entry[i].weight;
                R pixel[vector];
                read_channels<vector>(row + columns.entry[i].offset, 1, 0, pixel);
                for (int j = 0; j < vector; ++j) sum[j] += weight * pixel[j];
            }
        }
        write_channels<vector>(static_cast<T*>(args.pooled.data) + blockIdx.x * args.pooled.n_stride +
                                   c * args.pooled.c_stride + y * args.pooled.y_stride + x * args.pooled.x_stride,
                               1, 0, sum);
    }
}

// A block averages some channels of an unrotated region; with channels last, some pairs of a bin and a vector of
// channels. A region with too many bins or weights or too large strides is pooled point by point, and so is one that
// belongs to no sample. Grid: (regions, parts).
template <class T, int vector>
__global__ void __launch_bounds__(average_threads, sizeof(ComputeType<T>) == 8 ? 2 : 3)
    roi_average(const __grid_constant__ RoiRecord args) {
    using R = ComputeType<T>;
    __shared__ AxisBins<R> axes[2];
    __shared__ WorkSplit<R> split;
    __shared__ RoiAlignBins<R> bins;
    __shared__ R sums[vector == 0 ? average_warps : 1][vector == 0 ? max_sums<R> : 1];
    AxisBins<R>&rows = axes[0], &columns = axes[1];
    const long long k = blockIdx.x;
    if (threadIdx.x < 64) {  // one warp per axis
        const int axis = threadIdx.x / 32, lane = threadIdx.x % 32,
                  bin_count = axis == 0 ? args.out_height : args.out_width;
        const RoiAlignBins<R> region(args, k);
        const FeatureMap& map = region.level->values;
        RoiAxis<R> roi_axis = region.roi.y;
        if (axis == 1) roi_axis = region.roi.x;
        const int extent = axis == 0 ? region.level->height : region.level->width;
        const long long stride = axis == 0 ? map.y_stride : map.x_stride;
        const bool fits = region.n >= 0 && bin_count <= max_bins && offsets_fit_int32(extent, stride) &&
                          (vector > 0 || offsets_fit_int32(lane_channels<R>, map.c_stride));
        if (threadIdx.x == 0)
            bins = region, split.in = static_cast<const T*>(map.data) + region.n * map.n_stride,
            split.channel_stride = map.c_stride;
        const int used = fits ? fill_bins(roi_axis, bin_count, extent, stride, axes[axis]) : max_weights + 1;
        if (lane == 0) axes[axis].used = used;
        __syncwarp();
        if (vector == 0 && axis == 1 && used <= max_weights) divide_work(args, used, columns, split);
    }
    __syncthreads();
    if (rows.used > max_weights || columns.used > max_weights)
        return pool_region_by_point<T, Reduction::average, 1>(
            args, bins, k, static_cast<long long>(blockIdx.y) * average_threads + threadIdx.x,
            static_cast<long long>(gridDim.y) * average_threads);
    if constexpr (vector == 0) {
        average_planes<T>(args, rows, columns, split, sums);
    } else {
        average_vectors<vector, T>(args, rows, columns, split);
    }
}

}  // namespace cuaug
