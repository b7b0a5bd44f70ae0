#pragma once

#include "samplers/filter.cuh"
#include "gpu/source_frame.cuh"

// The horizontal filter of `resample`, for all dtypes but uint8 (horizontal_filter_u8.cuh): a lane filters four source
// rows at a time for its output column.

namespace cuaug {

constexpr int rows_at_once = 4;

// The output columns of a block, one per lane: the span of source pixels of each, and the weights of the span's first
// pixels.
template <class T>
struct HorizontalWeights {
    // Of a column; weight_of computes the others.
    static constexpr int max_stored_weights = sizeof(ComputeType<T>) == 4 ? 16 : 4;
    SourceSpan<ComputeType<T>> span[32];
    ComputeType<T> weight[max_stored_weights][32];
};

// Called by one warp. The unnamed parameters here and of `lane_column` are for the overloads for uint8.
template <class Filter, class T>
inline void compute_weights(HorizontalWeights<T>& weights, const SourceSpan<ComputeType<T>>& span, int, int lane) {
    weights.span[lane] = span;
#pragma unroll 2
    for (int i = 0; i < min(span.count, HorizontalWeights<T>::max_stored_weights); ++i)
        weights.weight[i][lane] = pixel_weight<Filter>(span, i);
}

template <class Filter, class T>
inline ComputeType<T> weight_of(const HorizontalWeights<T>& weights, int lane, int i) {
    return i < HorizontalWeights<T>::max_stored_weights ? weights.weight[i][lane]
                                                        : pixel_weight<Filter>(weights.span[lane], i);
}

// A lane's output column, and the source pixels that it reads: `count` from `first` on.
struct LaneColumn {
    int lane, first, count;
};

template <class Layout, class T, int K>
inline LaneColumn lane_column(const SourceFrame<T, K>&, const HorizontalWeights<T>& weights, int lane) {
    return {lane, weights.span[lane].first, weights.span[lane].count};
}

// Adds the weighted pixels of source row first + r to sum[r], for all four rows. Rows below the source repeat
// its last row.
template <class Filter, class Layout, class T, int K, class R>
inline void add_pixels(const SourceFrame<T, K>& source, int first, const LaneColumn& column,
                       const HorizontalWeights<T>& weights, R (&sum)[rows_at_once][K]) {
    const int x_stride = column_stride<Layout, K>(source.x_stride);
    const T* at[rows_at_once];
    for (int r = 0; r < rows_at_once; ++r)
        at[r] = row_of(source, min(first + r, source.height - 1)) + static_cast<long long>(column.first) * x_stride;
#pragma unroll 2
    for (int i = 0; i < column.count; ++i) {
        const R factor = weight_of<Filter>(weights, column.lane, i);
        for (int r = 0; r < rows_at_once; ++r) {
            for (int k = 0; k < K; ++k) {
                const T* from = at[r] + offset_of<Layout>(source, k);
                __builtin_assume(__isGlobal(from));
                sum[r][k] += factor * to_compute<R>(*from);
            }
            at[r] += x_stride;
        }
    }
}

// FilteredRows calls this function; for uint8 it calls the overload of horizontal_filter_u8.cuh.
template <class Filter, class Layout, class T, int K, class R>
inline void add_horizontal(const SourceFrame<T, K>& source, int first, const LaneColumn& column,
                           const HorizontalWeights<T>& weights, R (&sum)[rows_at_once][K]) {
    add_pixels<Filter, Layout>(source, first, column, weights, sum);
}

}  // namespace cuaug
