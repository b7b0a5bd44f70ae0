#pragma once

#include "gpu/convert.cuh"
#include "gpu/horizontal_filter_u8.cuh"
#include "gpu/output_row.cuh"

// Resamples with a filter of any width (passes/resample.cu): source rows are filtered horizontally into a ring, and the
// rows of the ring are summed vertically. InterpolatedRows is the alternative for interpolation between pixels.

namespace cuaug {

// A warp's ring of source rows, filtered horizontally: [rows, K, 32] in shared memory, one column per lane. `values`
// points to the lane's column.
template <class R, int K>
struct RowRing {
    static constexpr int rows = sizeof(R) == 4 ? 16 : 8;
    R* values;

    R& operator()(int row, int k) const { return values[(row & (rows - 1)) * (K * 32) + k * 32]; }

    void clear() const {
        for (int row = 0; row < rows; ++row)
            for (int k = 0; k < K; ++k) (*this)(row, k) = R(0);
    }
};

// Returns `shared`, a pointer into shared memory, by a shuffle. The compiler keeps the result of a shuffle in a
// register; any other such pointer is computed again at each use, in seven instructions.
template <class T>
inline T* opaque(T* shared) {
    const unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(shared));
    return static_cast<T*>(__cvta_shared_to_generic(__shfl_sync(0xffffffffu, address, threadIdx.x & 31)));
}

// The source rows in a warp's ring: first .. end - 1.
template <class Filter, class Layout, class In, int Channels, class LaneColumn>
struct FilteredRows {
    static constexpr int K = Channels;
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

    template <class Out>
    static Out pixel(R sum) {
        return saturate_cast<Out>(sum);
    }

    // `sum_rows` calls `require` itself, because the rows of one sum may be more than the ring holds.
    void prepare(const OutputRow<R>&) {}
    bool is_prepared_for(const OutputRow<R>&) const { return false; }

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
template <class Filter, class Layout, class In, int K, class Column, class R>
inline void sum_rows(OutputRow<R>& row, FilteredRows<Filter, Layout, In, K, Column>& rows, R (&sum)[K]) {
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
                if (is_integer_level<In> || j + u < taps)
                    for (int k = 0; k < K; ++k) sum[k] += factor.items[u] * rows.ring(from + j + u, k);
        }
    }
}

}  // namespace cuaug
