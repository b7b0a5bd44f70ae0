#pragma once

#include "gpu/output_row.cuh"
#include "gpu/source_frame.cuh"

// Resizes whose output pixels each interpolate between two columns and two rows: enlargements by a triangle filter, and
// resizes by it without antialias.

namespace cuaug {

// A level as a float. For bytes an OR and an addition: the instruction that converts takes four times as long.
template <class R, class T>
inline R level_to_compute(T level) {
    if constexpr (is_same_v<T, uint8>)
        return __uint_as_float(level | 0x4B000000u) - 8388608.0f;
    else
        return to_compute<R>(level);
}

// The two source columns that a lane interpolates between, and their weights.
template <class R>
struct ColumnPair {
    int left;  // the other one is left + 1
    R left_weight, right_weight;
};

// The pair of a span of one or two pixels, in an image of at least two columns.
template <class Filter, class R>
inline ColumnPair<R> column_pair(const SourceSpan<R>& span, int width) {
    const int left = min(span.first, width - 2);
    return {left, pixel_weight<Filter>(span, left - span.first), pixel_weight<Filter>(span, left + 1 - span.first)};
}

// Two adjacent source rows, interpolated at a lane's column.
template <class Layout, class In, int Channels>
struct InterpolatedRows {
    static constexpr int K = Channels;
    using R = ComputeType<In>;
    const SourceFrame<In, K>& source;
    const ColumnPair<R>& column;
    int lane;
    int begin_column, end_column;  // of the warp's columns in the source
    int y = -2;                    // of the upper row; at first none
    R upper[K], lower[K];

    void interpolate(int row, R (&out)[K]) const {
        const int x_stride = column_stride<Layout, K>(source.x_stride);
        const In* at = row_of(source, min(row, source.height - 1)) + static_cast<long long>(column.left) * x_stride;
        if ((row & rows_ahead<In> - 1) == 0)
            prefetch<Layout>(source, row + rows_ahead<In>, begin_column, end_column, lane);
        for (int k = 0; k < K; ++k) {
            const In* from = at + offset_of<Layout>(source, k);
            __builtin_assume(__isGlobal(from));
            out[k] = column.left_weight * level_to_compute<R>(from[0]);
            out[k] += column.right_weight * level_to_compute<R>(from[x_stride]);
        }
    }

    // The two rows from `row` on.
    void require(int row) {
        if (row == y) return;
        if (row == y + 1)
            for (int k = 0; k < K; ++k) upper[k] = lower[k];
        else
            interpolate(row, upper);
        interpolate(row + 1, lower);
        y = row;
    }
};

template <class Layout, class In, int K, class R>
inline void sum_rows(const OutputRow<R>& row, InterpolatedRows<Layout, In, K>& rows, R (&sum)[K]) {
    rows.require(row.span.first);
    const FourWeights<R> factor = row.weight[0];
    for (int k = 0; k < K; ++k) {
        sum[k] = factor.items[0] * rows.upper[k];
        sum[k] += factor.items[1] * rows.lower[k];
    }
}

}  // namespace cuaug
