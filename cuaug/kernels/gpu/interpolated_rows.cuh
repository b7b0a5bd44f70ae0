#pragma once

#include "gpu/convert.cuh"
#include "gpu/output_row.cuh"
#include "gpu/source_frame.cuh"

// Resizes of integer images whose output pixels each interpolate between two columns and two rows: enlargements by a
// triangle filter, and all resizes by it without antialias (`interpolates_between_pixels` of passes/resample.cu).

namespace cuaug {

// A level as a float. For bytes an OR and an addition: the instruction that converts takes four times as long.
template <class In>
inline float level_to_float(unsigned int level) {
    if constexpr (is_same_v<In, uint8>)
        return __uint_as_float(level | 0x4B000000u) - 8388608.0f;
    else
        return static_cast<float>(static_cast<In>(level));
}

// The two source pixels of one axis that an output pixel interpolates between: `first` and the next.
template <class R>
struct PixelPair {
    int first;
    R weights[2];
};

// The pair of output pixel `index` of `size`: the output covers [start, start + extent) of an image of `length` pixels,
// at least 2, which contains it. The weights are those of `pixel_weight` (samplers/filter.cuh), bit for bit, so that
// ties round in the same way. With antialias a pixel beyond the box has no weight; without, its weight goes to the
// pixel at the edge of the box.
template <class R>
inline PixelPair<R> pixel_pair(double start, double extent, int length, int size, int index, bool antialias) {
    const double centre = start + (index + 0.5) * (extent / size);
    const int low = static_cast<int>(floor(start)), end = max(static_cast<int>(ceil(start + extent)), low + 1),
              first = static_cast<int>(floor(centre - 0.5));
    const R offset = static_cast<R>(first + 0.5 - centre), left = R(1) - fabs(offset),
            right = fmax(R(1) - fabs(offset + R(1)), R(0));
    const bool has_left = first >= low, has_right = first + 1 < end;
    if (has_left && has_right) {
        const R inv_sum = R(1) / (left + right);
        return {first, {left * inv_sum, right * inv_sum}};
    }
    const R inv_sum = R(1) / (antialias ? has_left ? left : right : left + right),
            weight = antialias ? (has_left ? left : right) * inv_sum : left * inv_sum + right * inv_sum;
    const int pixel = has_left ? first : first + 1, pair_first = min(pixel, length - 2);
    return {pair_first, {pixel == pair_first ? weight : R(0), pixel == pair_first ? R(0) : weight}};
}

// Two adjacent source rows, interpolated at a lane's column. The levels of the row below are loaded ahead.
template <class Layout, class In, int Channels>
struct InterpolatedRows {
    static constexpr int K = Channels;
    using R = ComputeType<In>;
    const SourceFrame<In, K>& source;
    const PixelPair<R>& column;
    int lane;
    int begin_column, end_column;  // of the warp's columns in the source
    int y = -2;                    // of the upper row; at first none
    R upper[K], lower[K];
    unsigned int next[K][2];

    // A weighted sum lies between the levels that it is made of: unlike in `saturate_cast`, nothing has to be clamped.
    template <class Out>
    static Out pixel(R sum) {
        if constexpr (is_same_v<Out, In>)
            // 1.5 * 2^23 + sum has the rounded sum in its low bits, and a level has at most 16.
            return static_cast<Out>(__float_as_uint(sum + 12582912.0f));
        else
            return saturate_cast<Out>(sum);
    }

    void load(int row) {
        const int x_stride = column_stride<Layout, K>(source.x_stride);
        const In* at = row_of(source, min(row, source.height - 1)) + static_cast<long long>(column.first) * x_stride;
        if ((row & rows_ahead<In> - 1) == 0)
            prefetch<Layout>(source, row + rows_ahead<In>, begin_column, end_column, lane);
        for (int k = 0; k < K; ++k) {
            const In* from = at + offset_of<Layout>(source, k);
            __builtin_assume(__isGlobal(from));
            next[k][0] = from[0];
            next[k][1] = from[x_stride];
        }
    }

    void interpolate(R (&out)[K]) const {
        for (int k = 0; k < K; ++k) {
            out[k] = column.weights[0] * level_to_float<In>(next[k][0]);
            out[k] += column.weights[1] * level_to_float<In>(next[k][1]);
        }
    }

    bool is_prepared_for(const OutputRow<R>& output_row) const { return output_row.span.first == y; }

    // Makes `upper` and `lower` the two source rows of an output row. If only the next source row is new, `lower`
    // becomes `upper`, and one row is interpolated.
    void prepare(const OutputRow<R>& output_row) {
        const int row = output_row.span.first;
        if (row == y + 1) {
            for (int k = 0; k < K; ++k) upper[k] = lower[k];
        } else {
            load(row);
            interpolate(upper);
            load(row + 1);
        }
        interpolate(lower);
        load(row + 2);
        y = row;
    }
};

template <class Layout, class In, int K, class R>
inline void sum_rows(const OutputRow<R>& row, const InterpolatedRows<Layout, In, K>& rows, R (&sum)[K]) {
    const FourWeights<R> factor = row.weight[0];
    for (int k = 0; k < K; ++k) {
        sum[k] = factor.items[0] * rows.upper[k];
        sum[k] += factor.items[1] * rows.lower[k];
    }
}

}  // namespace cuaug
