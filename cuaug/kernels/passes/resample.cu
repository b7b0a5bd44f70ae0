#include "gpu/batch_slice.cuh"
#include "gpu/filtered_rows.cuh"
#include "gpu/interpolated_rows.cuh"
#include "gpu/convert.cuh"
#include "gpu/ragged.cuh"
#include "gpu/result_region.cuh"
#include "gpu/programmatic_launch.cuh"
#include "records/resample.cuh"

namespace cuaug {

template <class Filter, class From, class Part, class R>
inline SourceSpan<R> column_span(const ResampleRecord& args, long long n, int index) {
    const AxisWindow columns = result_columns<Part>(args, n);
    return source_span<Filter, R>(box_entry(args, n, 1), box_entry(args, n, 3), width_of<From>(args, n),
                                  columns.box_size, columns.first + index, args.antialias);
}

// Never for floats: one pixel of a pair can have the weight 0, and 0 times an infinity is NaN.
template <class Filter, class In, class From>
constexpr bool may_interpolate =
    is_same_v<Filter, Triangle> && is_integer_level<In> && !is_same_v<typename LayoutTraits<From>::type, Strided>;

// Whether each pixel of a sample's result interpolates between two columns and two rows of the image.
template <class Filter, class In, class From, class Part>
inline bool interpolates_between_pixels(const ResampleRecord& args, long long n) {
    if constexpr (!may_interpolate<Filter, In, From>) return false;
    const double top = box_entry(args, n, 0), left = box_entry(args, n, 1), height = box_entry(args, n, 2),
                 width = box_entry(args, n, 3);
    const int image_height = height_of<From>(args, n), image_width = width_of<From>(args, n);
    // A sum alone may be rounded down to the image's end.
    const bool is_inside = top >= 0.0 && left >= 0.0 && height > 0.0 && width > 0.0 && top < image_height &&
                           left < image_width && top + height <= image_height && left + width <= image_width;
    const bool is_enlarged =
        height <= result_rows<Part>(args, n).box_size && width <= result_columns<Part>(args, n).box_size;
    return is_inside && min(image_height, image_width) > 1 && (is_enlarged || !args.antialias);
}

template <class Filter, class From, class Part, class R>
inline void compute_output_row(const ResampleRecord& args, long long n, int index, OutputRow<R>& row) {
    const AxisWindow rows = result_rows<Part>(args, n);
    const SourceSpan<R> span =
        source_span<Filter, R>(box_entry(args, n, 0), box_entry(args, n, 2), height_of<From>(args, n), rows.box_size,
                               rows.first + index, args.antialias);
    row.span = span;
#pragma unroll 1
    for (int i = 0; i < min(span.count + 3 & ~3, OutputRow<R>::max_taps); ++i)
        row.weight[i / 4].items[i % 4] = pixel_weight<Filter>(span, i);
}

template <class From, class Part, class R>
inline PixelPair<R> column_pair(const ResampleRecord& args, long long n, int index) {
    const AxisWindow columns = result_columns<Part>(args, n);
    return pixel_pair<R>(box_entry(args, n, 1), box_entry(args, n, 3), width_of<From>(args, n), columns.box_size,
                         columns.first + index, args.antialias);
}

template <class From, class Part, class R>
inline void compute_row_pair(const ResampleRecord& args, long long n, int index, OutputRow<R>& row) {
    const AxisWindow rows = result_rows<Part>(args, n);
    const PixelPair<R> pair = pixel_pair<R>(box_entry(args, n, 0), box_entry(args, n, 2), height_of<From>(args, n),
                                            rows.box_size, rows.first + index, args.antialias);
    row.span.first = pair.first;
    for (int i = 0; i < 2; ++i) row.weight[0].items[i] = pair.weights[i];
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

// A lane's column of a result. Strides in elements.
template <class Out>
struct OutputColumn {
    Out* data;
    long long y_stride, c_stride;
    int channels;  // 0: the lane has no column
};

// Stores `count` rows of a result, from `row` on, after the ops. `rows`: InterpolatedRows or FilteredRows, which holds
// source rows.
// With InterpolatedRows the inner loop makes the rows that lie between the same two source rows: a test at the
// beginning of each row would wait for the source row that is being loaded. With FilteredRows it makes one row.
template <class OutLayout, class Rows, class R, class Out, class Ops>
inline void store_rows(Rows& rows, OutputRow<R>* row, int count, const OutputColumn<Out>& column, const Ops& ops) {
    constexpr int K = Rows::K;
    Out* out = column.data;
    OutputRow<R>* const end = row + count;
#pragma unroll 1
    while (row < end) {
        rows.prepare(*row);
#pragma unroll 1
        do {
            R sum[K] = {};
            sum_rows(*row, rows, sum);
            RawPixel<Out, K> pixel;
            if constexpr (Ops::is_empty)
                for (int k = 0; k < K; ++k) pixel.c[k] = Rows::template pixel<Out>(sum[k]);
            else
                pixel = apply_ops<Out>(sum, ops);
            for (int k = 0; k < K; ++k)
                if (k < column.channels) out[is_same_v<OutLayout, Packed> ? k : k * column.c_stride] = pixel.c[k];
            out += column.y_stride, ++row;
        } while (row < end && rows.is_prepared_for(*row));
    }
}

// A block makes 32 columns of at most 128 rows, K channels, each warp a quarter of the rows: a lane filters four source
// rows at a time horizontally into a ring buffer (RowRing), and sums the ring's rows vertically. Samples for which
// `interpolates_between_pixels` is true take InterpolatedRows instead. `From`: the layout of the input, or Ragged of
// one. Grid: (tiles in x, tiles in y, samples x frames x groups of K channels). With OwnSize and BoxWindow the blocks
// of a sample divide the rows of its `box_region`; blocks beyond the region's columns sample no pixels.
template <class In, class From, int K, class Filter, class Chain, class Out, class OutLayout, class Part = WholeBox>
__global__ void __launch_bounds__(resize_threads, sizeof(ComputeType<In>) == 8                            ? 3
                                                  : is_same_v<typename LayoutTraits<From>::type, Strided> ? 4
                                                                                                          : 5)
    resample(const __grid_constant__ ResampleRecord args) {
    using InLayout = typename LayoutTraits<From>::type;
    using R = ComputeType<In>;
    using Slice = BatchSlice<InLayout, OutLayout, K>;
    __shared__ R ring_memory[resize_warps][RowRing<R, K>::rows * K * 32];
    __shared__ HorizontalWeights<In> weights;
    __shared__ OutputRow<R> output_rows[resize_threads];
    __shared__ alignas(16) R fill_memory[K];
    using Ops = ChannelOps<Chain, In, Out, K>;
    __shared__ Ops ops;

    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
    OutputTile tile = output_tile(args.out_height, args.out_width);
    const RowRing<R, K> ring = {opaque(ring_memory[warp_index] + lane)};

    wait_for_previous();
    allow_next_launch();
    for (long long index = blockIdx.z; index < Slice::count(args); index += gridDim.z) {
        const Slice slice(args, index);
        const int first = slice.first, channels = Slice::split_channels ? min(K, slice.channels) : K;
        const long long n = slice.n, t = slice.t;
        const BoxRegion region = box_region<Part>(args, n);
        OutputImage<Out> image = output_image<Out, OutLayout, Part>(args, n, t);
        image.data += first * image.c_stride;
        if constexpr (Ops::has_parameters) {
            __syncthreads();  // other warps may read those of the previous slice until here
            if (warp_index == 0) ops.read(args.op_parameters, args.channels, n, first, lane);
            __syncthreads();
        }
        if constexpr (is_same_v<Part, BoxWindow>)
            fill_outside<In, OutLayout, K>(args, n, first, channels, region, image, ops);
        if constexpr (!is_same_v<Part, WholeBox>) {
            tile = output_tile(region.height, region.width);
            if (tile.is_empty()) continue;
        }
        const bool interpolates = interpolates_between_pixels<Filter, In, From, Part>(args, n);
        const int column_index = tile.left + min(lane, tile.columns - 1), row_index = tile.top + threadIdx.x;
        const bool has_row = static_cast<int>(threadIdx.x) < tile.rows;
        PixelPair<R> column;
        if (interpolates) {
            column = column_pair<From, Part, R>(args, n, column_index);
            if (has_row) compute_row_pair<From, Part>(args, n, row_index, output_rows[threadIdx.x]);
        } else {
            if (warp_index == resize_warps - 1)
                compute_weights<Filter>(weights, column_span<Filter, From, Part, R>(args, n, column_index),
                                        width_of<From>(args, n), lane);
            if (has_row) compute_output_row<Filter, From, Part>(args, n, row_index, output_rows[threadIdx.x]);
            // `sum_rows` adds rows of weight 0, too, which must be finite; of floats it skips them.
            if constexpr (is_integer_level<In>) ring.clear();
        }
        if (static_cast<int>(threadIdx.x) < K)
            fill_memory[threadIdx.x] = to_compute<R>(saturate_cast<In>(
                fill_value(args.fill, n, min(first + static_cast<int>(threadIdx.x), args.channels - 1))));
        __syncthreads();

        const SourceFrame<In, K> source = source_frame<From, In, K>(args, n, t, first, channels);
        const int x_stride = column_stride<OutLayout, K>(args.out.x_stride), first_row = warp_index * tile.warp_rows,
                  row_count = min(tile.warp_rows, tile.rows - first_row);
        const bool flips_vertically = cuaug::flips_vertically(args, n),
                   flips_horizontally = cuaug::flips_horizontally(args, n);
        const int x = region.left + tile.left + lane, y = region.top + tile.top + first_row,
                  column_out = flips_horizontally ? args.out_width - 1 - x : x;
        const OutputColumn<Out> out = {image.data + (flips_vertically ? args.out_height - 1 - y : y) * image.y_stride +
                                           static_cast<long long>(column_out) * x_stride,
                                       flips_vertically ? -image.y_stride : image.y_stride, image.c_stride,
                                       lane < tile.columns ? channels : 0};
        OutputRow<R>* row = opaque(output_rows + first_row);
        if constexpr (may_interpolate<Filter, In, From>)
            if (interpolates) {
                InterpolatedRows<InLayout, In, K> rows = {source, column, lane,
                                                          __shfl_sync(0xffffffffu, column.first, 0),
                                                          __shfl_sync(0xffffffffu, column.first, 31) + 2};
                store_rows<OutLayout>(rows, row, row_count, out, ops);
            }
        if (!interpolates) {
            const auto lane_pixels = lane_column<InLayout>(source, weights, lane);
            const int begin = weights.span[0].first, end = weights.span[31].first + weights.span[31].count;
            FilteredRows<Filter, InLayout, In, K, decltype(lane_pixels)> rows = {
                source, weights, lane_pixels, ring, opaque(fill_memory), lane, weights.span[lane].outside != R(0),
                begin,  end,     0,           0};
            store_rows<OutLayout>(rows, row, row_count, out, ops);
        }
        __syncthreads();
    }
}

}  // namespace cuaug
