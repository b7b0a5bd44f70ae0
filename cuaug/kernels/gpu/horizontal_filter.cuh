#pragma once

#include "samplers/filter.cuh"
#include "gpu/source_frame.cuh"

// The horizontal half of a resize, of all types but bytes (across_bytes.cuh): a lane sums four source rows into its
// output column.

namespace cuaug {

constexpr int rows_at_once = 4;

// The output columns of a block: a lane's span, and the weights of its first pixels.
template <class T>
struct Across {
    static constexpr int most = sizeof(ComputeType<T>) == 4 ? 16 : 4;
    Span<ComputeType<T>> span[32];
    ComputeType<T> weight[most][32];
};

// Called by one warp.
template <class Filter, class T>
inline void weigh(Across<T>& across, const Span<ComputeType<T>>& span, int, int lane) {
    across.span[lane] = span;
#pragma unroll 2
    for (int i = 0; i < min(span.count, Across<T>::most); ++i) across.weight[i][lane] = weight_in<Filter>(span, i);
}

template <class Filter, class T>
inline ComputeType<T> weight_of(const Across<T>& across, int lane, int i) {
    return i < Across<T>::most ? across.weight[i][lane] : weight_in<Filter>(across.span[lane], i);
}

// What a lane knows of its column.
struct Column {
    int lane, first, count;
};

template <class Layout, class T, int K>
inline Column column_of(const Source<T, K>&, const Across<T>& across, int lane) {
    return {lane, across.span[lane].first, across.span[lane].count};
}

// Adds source rows first .. first + 3 to sum[r], pixel by pixel.
template <class Filter, class Layout, class T, int K, class R>
inline void add_pixels(const Source<T, K>& source, int first, const Column& column, const Across<T>& across,
                       R (&sum)[rows_at_once][K]) {
    const int x_stride = column_stride<Layout, K>(source.x_stride);
    const T* at[rows_at_once];
    for (int r = 0; r < rows_at_once; ++r)
        at[r] = row_of(source, min(first + r, source.height - 1)) + static_cast<long long>(column.first) * x_stride;
#pragma unroll 2
    for (int i = 0; i < column.count; ++i) {
        const R factor = weight_of<Filter>(across, column.lane, i);
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

template <class Filter, class Layout, class T, int K, class R>
inline void add_across(const Source<T, K>& source, int first, const Column& column, const Across<T>& across,
                       R (&sum)[rows_at_once][K]) {
    add_pixels<Filter, Layout>(source, first, column, across, sum);
}

}  // namespace cuaug
