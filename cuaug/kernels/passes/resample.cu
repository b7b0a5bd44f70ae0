#include "gpu/horizontal_filter_u8.cuh"
#include "gpu/convert.cuh"
#include "gpu/ragged.cuh"
#include "gpu/programmatic_launch.cuh"
#include "records/resample.cuh"

namespace cuaug {

constexpr int resize_threads = 128, resize_warps = resize_threads / 32;

// A warp's ring of source rows, filtered horizontally; a lane holds its column.
template <class R, int K>
struct RowRing {
    static constexpr int rows = sizeof(R) == 4 ? 16 : 8;
    R* values;

    R& operator()(int row, int k) const { return values[(row & (rows - 1)) * (K * 32) + k * 32]; }
};

template <class R>
struct alignas(16) FourWeights {
    R items[4];
};

// Returns `shared`, a pointer into shared memory, by a shuffle. The compiler keeps the result of a shuffle in a
// register; any other such pointer is computed again at each use, in seven instructions.
template <class T>
inline T* opaque(T* shared) {
    const unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
    return static_cast<T*>(__cvta_shared_to_generic(__shfl_sync(0xffffffffu, address, threadIdx.x & 31)));
}

// An output row: its span, and the weights of its first source rows.
template <class R>
struct OutputRow {
    static constexpr int max_taps = sizeof(R) == 4 ? 8 : 4;
    FourWeights<R> weight[max_taps / 4];
    SourceSpan<R> span;
};

// The result is the whole resized box, or a window of it, or the whole box in a size of the sample's own. Separate
// kernels: the code of windows leaves the horizontal filter too few registers to load all pixels before it uses the
// first ones (benchmarks/log/resize-window.md).
struct WholeBox {};
struct BoxWindow {};
struct OwnSize {};

// The part of a result that a block makes: at most 32 columns, and the same number of rows for each warp.
struct OutputTile {
    int left, top, columns, rows, warp_rows;

    bool is_empty() const { return columns <= 0 || rows <= 0; }
};

inline OutputTile output_tile(int height, int width) {
    const int warp_rows = (height + resize_warps * gridDim.y - 1) / (resize_warps * gridDim.y),
              tile_rows = warp_rows * resize_warps;
    const int left = blockIdx.x * 32, top = blockIdx.y * tile_rows;
    return {left, top, min(32, width - left), min(tile_rows, height - top), warp_rows};
}

template <class Filter, class From, class Part, class R>
inline void compute_output_row(const ResampleRecord& args, long long n, int index, OutputRow<R>& row) {
    int size = args.out_height;
    if constexpr (is_same_v<Part, BoxWindow>) {
        const AxisWindow window = window_rows(args, n);
        size = window.size, index += window.first;
    } else if constexpr (is_same_v<Part, OwnSize>) {
        size = result_placement(args, n).height;
    }
    const SourceSpan<R> span = source_span<Filter, R>(box_entry(args, n, 0), box_entry(args, n, 2),
                                                      height_of<From>(args, n), size, index, args.antialias);
    row.span = span;
#pragma unroll 1
    for (int i = 0; i < min(span.count + 3 & ~3, OutputRow<R>::max_taps); ++i)
        row.weight[i / 4].items[i % 4] = pixel_weight<Filter>(span, i);
}

template <class From, class In, int K>
inline SourceFrame<In, K> source_frame(const ResampleRecord& args, long long n, long long t, int first, int channels) {
    constexpr bool is_ragged = LayoutTraits<From>::ragged;
    SourceFrame<In, K> source;
    source.data = frame_of<In, From>(args, n, t, first);
    source.c_stride = is_ragged ? ragged_image(args, n).c_stride : args.in.c_stride;
    source.channels = channels;
    source.y_stride = is_ragged ? ragged_image(args, n).y_stride : static_cast<int>(args.in.y_stride);
    source.x_stride = is_ragged ? ragged_image(args, n).x_stride : static_cast<int>(args.in.x_stride);
    source.height = height_of<From>(args, n);
    source.width = width_of<From>(args, n);
    source.aligned = is_ragged ? ragged_image(args, n).vector_elements : args.in_vector_elements;
    return source;
}

// The source rows in a warp's ring: first .. end - 1.
template <class Filter, class Layout, class In, int K, class LaneColumn>
struct FilteredRows {
    using R = ComputeType<In>;
    const SourceFrame<In, K>& source;
    const HorizontalWeights<In>& weights;
    const LaneColumn& column;
    const RowRing<R, K>& ring;
    const R* fill;
    int lane;
    bool is_clipped;               // part of the column's span lies outside the image
    int begin_column, end_column;  // of the warp's columns in the source
    int first, end;

    // Filters rows up to `from` + `count` - 1 that are not in the ring yet.
    void require(int from, int count) {
        if (from < first || from > end) first = end = from;
#pragma unroll 1
        for (; end < from + count; end += rows_at_once) {
            if (rows_ahead<In> == rows_at_once || end & rows_at_once)
                prefetch<Layout>(source, end + rows_at_once, begin_column, end_column, lane);
            R line[rows_at_once][K] = {};
            if (is_clipped)
                for (int r = 0; r < rows_at_once; ++r)
                    for (int k = 0; k < K; ++k) line[r][k] = weights.span[lane].outside * fill[k];
            add_horizontal<Filter, Layout>(source, end, column, weights, line);
            for (int r = 0; r < rows_at_once; ++r)
                for (int k = 0; k < K; ++k) ring(end + r, k) = line[r][k];
        }
        first = max(first, end - RowRing<R, K>::rows);
    }
};

// One output row of a warp's columns: the weighted sum of its source rows.
template <class Filter, bool finite, int K, class R, class Rows>
inline void filter_output_row(OutputRow<R>& row, Rows& rows, R (&sum)[K]) {
    constexpr int max_taps = OutputRow<R>::max_taps;
    const int count = row.span.count, begin_row = row.span.first;
    if (row.span.outside != R(0))
        for (int k = 0; k < K; ++k) sum[k] = row.span.outside * rows.fill[k];
#pragma unroll 1
    for (int i = 0; i < count; i += max_taps) {
        const int from = begin_row + i, taps = min(max_taps, count - i);
        rows.require(from, taps);
        if (i > 0) {
            __syncwarp();
            if (rows.lane < max_taps)
                row.weight[rows.lane / 4].items[rows.lane % 4] = pixel_weight<Filter>(row.span, i + rows.lane);
            __syncwarp();
        }
#pragma unroll 1
        for (int j = 0; j < taps; j += 4) {
            const FourWeights<R> factor = row.weight[j / 4];
            for (int u = 0; u < 4; ++u)
                if (finite || j + u < taps)
                    for (int k = 0; k < K; ++k) sum[k] += factor.items[u] * rows.ring(from + j + u, k);
        }
    }
}

// Where a sample's result lies. Strides in elements.
template <class Out>
struct OutputImage {
    Out* data;
    long long c_stride, y_stride;
};

template <class Out, class OutLayout, class Part>
inline OutputImage<Out> output_image(const ResampleRecord& args, long long n, long long t) {
    Out* data = static_cast<Out*>(args.out.data);
    if constexpr (is_same_v<Part, OwnSize>) {
        const ResultPlacement image = result_placement(args, n);
        const bool packed = is_same_v<OutLayout, Packed> || (is_same_v<OutLayout, Strided> && args.out.c_stride == 1);
        return {data + image.offset, packed ? 1 : static_cast<long long>(image.height) * image.width,
                packed ? static_cast<long long>(args.channels) * image.width : image.width};
    } else {
        return {data + n * args.out.n_stride + t * args.out.t_stride, args.out.c_stride, args.out.y_stride};
    }
}

// A block makes 32 columns of at most 128 rows, K channels, each warp a quarter of the rows: a lane filters four source
// rows at a time horizontally, and sums the rows of its ring vertically. Grid: (tiles in x, tiles in y, frames x groups
// of K). Blocks beyond a sample's own size make nothing.
template <class In, class From, int K, class Filter, class Out, class OutLayout, class Part = WholeBox>
__global__ void __launch_bounds__(resize_threads, sizeof(ComputeType<In>) == 8                            ? 3
                                                  : is_same_v<typename LayoutTraits<From>::type, Strided> ? 4
                                                                                                          : 5)
    resample(const __grid_constant__ ResampleRecord args) {
    using InLayout = typename LayoutTraits<From>::type;
    using R = ComputeType<In>;
    constexpr bool finite =
        is_same_v<In, uint8> || is_same_v<In, uint16> || is_same_v<In, int16>;  // a weight of 0 hides any value
    __shared__ R ring_memory[resize_warps][RowRing<R, K>::rows * K * 32];
    __shared__ HorizontalWeights<In> weights;
    __shared__ OutputRow<R> output_rows[resize_threads];
    __shared__ alignas(16) R fill_memory[K];

    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
    OutputTile tile = output_tile(args.out_height, args.out_width);
    constexpr bool split_channels = is_same_v<InLayout, Strided> || is_same_v<OutLayout, Strided>;
    const int channel_groups = split_channels ? (args.channels + K - 1) / K : 1;
    const RowRing<R, K> ring = {opaque(ring_memory[warp_index] + lane)};

    if constexpr (finite)
        for (int row = 0; row < RowRing<R, K>::rows; ++row)
            for (int k = 0; k < K; ++k) ring(row, k) = R(0);

    wait_for_previous();
    allow_next_launch();
    for (long long slice = blockIdx.z; slice < args.samples * args.frames * channel_groups; slice += gridDim.z) {
        const int first = split_channels ? static_cast<int>(slice % channel_groups) * K : 0,
                  channels = split_channels ? min(K, args.channels - first) : K;
        const long long frame = split_channels ? slice / channel_groups : slice,
                        n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        if constexpr (is_same_v<Part, OwnSize>) {
            const ResultPlacement image = result_placement(args, n);
            tile = output_tile(image.height, image.width);
            if (tile.is_empty()) continue;
        }
        if (warp_index == resize_warps - 1) {
            int size = args.out_width, index = tile.left + min(lane, tile.columns - 1);
            if constexpr (is_same_v<Part, BoxWindow>) {
                const AxisWindow window = window_columns(args, n);
                size = window.size, index += window.first;
            } else if constexpr (is_same_v<Part, OwnSize>) {
                size = result_placement(args, n).width;
            }
            const SourceSpan<R> span = source_span<Filter, R>(box_entry(args, n, 1), box_entry(args, n, 3),
                                                              width_of<From>(args, n), size, index, args.antialias);
            compute_weights<Filter>(weights, span, width_of<From>(args, n), lane);
        }
        if (static_cast<int>(threadIdx.x) < tile.rows)
            compute_output_row<Filter, From, Part>(args, n, tile.top + threadIdx.x, output_rows[threadIdx.x]);
        if (static_cast<int>(threadIdx.x) < K)
            fill_memory[threadIdx.x] = to_compute<R>(saturate_cast<In>(
                fill_value(args.fill, n, min(first + static_cast<int>(threadIdx.x), args.channels - 1))));
        __syncthreads();

        const SourceFrame<In, K> source = source_frame<From, In, K>(args, n, t, first, channels);
        const auto column = lane_column<InLayout>(source, weights, lane);
        const bool is_clipped = weights.span[lane].outside != R(0);
        const int begin = weights.span[0].first, end = weights.span[31].first + weights.span[31].count;
        const int x_stride = column_stride<OutLayout, K>(args.out.x_stride), first_row = warp_index * tile.warp_rows,
                  last_row = min(first_row + tile.warp_rows, tile.rows);
        const bool flips_vertically = cuaug::flips_vertically(args, n),
                   flips_horizontally = cuaug::flips_horizontally(args, n);
        const int column_out = flips_horizontally ? args.out_width - 1 - tile.left - lane : tile.left + lane,
                  row_out = tile.top + first_row;
        const OutputImage<Out> image = output_image<Out, OutLayout, Part>(args, n, t);
        Out* out = image.data + first * image.c_stride +
                   (flips_vertically ? args.out_height - 1 - row_out : row_out) * image.y_stride +
                   static_cast<long long>(column_out) * x_stride;
        const long long out_row = flips_vertically ? -image.y_stride : image.y_stride;
        const R* fill = opaque(fill_memory);
        OutputRow<R>* row = opaque(output_rows + first_row);
        FilteredRows<Filter, InLayout, In, K, decltype(column)> filtered = {
            source, weights, column, ring, fill, lane, is_clipped, begin, end, 0, 0};
#pragma unroll 1
        for (int y = first_row; y < last_row; ++y, out += out_row, ++row) {
            R sum[K] = {};
            filter_output_row<Filter, finite>(*row, filtered, sum);
            Out value[K];
            for (int k = 0; k < K; ++k) value[k] = saturate_cast<Out>(sum[k]);
            if (lane < tile.columns) {
                for (int k = 0; k < K; ++k)
                    if (k < channels) out[is_same_v<OutLayout, Packed> ? k : k * image.c_stride] = value[k];
            }
        }
        __syncthreads();
    }
}

}  // namespace cuaug
