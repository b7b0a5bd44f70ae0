#pragma once

#include "dispatch_functor.hpp"
#include "records/resample.cuh"
#include "pixel_io.hpp"
#include "simd8.hpp"

// The weights of separable resampling, and weighted sums down columns and along rows.

namespace cuaug {

constexpr int max_output_columns = 256;    // output pixels of a row computed at once
constexpr int max_column_weights = 16384;  // weights of all these output pixels
constexpr int max_source_columns = 1024;   // source pixels of a row summed at once

// The source columns of one output pixel of a row.
template <class R>
struct ColumnTaps {
    Taps<R> taps;
    int first, count;
    // Index of its first weight in workspace.weight. Unused if `count` exceeds max_column_weights: the weights are then
    // computed for max_source_columns columns at a time.
    int weight_offset;
};

template <class R>
struct ResampleWorkspace {
    static constexpr int pitch = 4 * max_source_columns + 16, result_pitch = 4 * max_output_columns + 16;
    alignas(64) R weight[max_column_weights];
    // Weighted sums of source rows, for one output row or for eight.
    alignas(64) R column_sums[lanes * pitch];
    // column_sums, interleaved: the channels of one output row, or eight output rows.
    alignas(64) R interleaved_sums[lanes * pitch];
    alignas(64) R result[lanes * result_pitch];
    alignas(64) R interleaved_result[lanes * result_pitch];  // the results of eight output rows, interleaved
    alignas(64) R scratch[4 * max_output_columns];
    ColumnTaps<R> columns[max_output_columns];
};
static_assert(sizeof(ResampleWorkspace<double>) <= native::workspace_bytes);

// One axis of the resampling of one sample: the box [start, start + extent) of an input of `in_size` pixels is resized;
// the result is a window of the resized box.
template <class R>
struct ResampleAxis {
    native::Filter filter;
    double start, extent;
    int in_size;
    AxisWindow window;
    bool antialias;

    Taps<R> taps(int i) const {
        return dispatch_filter(filter, [&](auto kind) {
            return taps_of<decltype(kind), R>(start, extent, in_size, window.box_size, window.first + i, antialias);
        });
    }

    R weight_of(const Taps<R>& taps, int i) const {
        return dispatch_filter(filter, [&](auto kind) { return weight<decltype(kind)>(taps, i); });
    }
};

// The weights of one output pixel for source columns low .. high - 1. At the edge of the box several taps may share a
// column: their weights are added up.
template <class R>
inline void compute_weights(const ResampleAxis<R>& axis, const Taps<R>& taps, int low, int high, R* weight) {
    for (int i = low; i < high; ++i) weight[i - low] = R(0);
    for (int i = taps.begin_in(low); i < taps.end_in(high); ++i)
        weight[taps.clamped_pixel(i) - low] += axis.weight_of(taps, i);
}

// out[i] = (or += if Add) the sum over k < Rows of weight[k] * row[k][offset + i * step], for i < count. The order of
// the sum, and with it the last bit, does not depend on the step.
template <int Rows, bool Add, class T, class R>
inline void add_rows(const T* const* row, long long offset, const R* weight, long long step, int count,
                     R* __restrict__ out) {
    const T* in[Rows];
    for (int k = 0; k < Rows; ++k) in[k] = row[k] + offset;
    auto sum_at = [&](int i, long long in_index) {
        R sum = Add ? out[i] : R(0);
        for (int k = 0; k < Rows; ++k) sum += weight[k] * to_compute<R>(in[k][in_index]);
        return sum;
    };
    if (step == 1)
        for (int i = 0; i < count; ++i) out[i] = sum_at(i, i);
    else
        for (int i = 0; i < count; ++i) out[i] = sum_at(i, i * step);
}

template <bool Add, class T, class R>
inline void add_rows(const T* const* row, long long offset, const R* weight, int rows, long long step, int count,
                     R* out) {
    dispatch(TypeList<Int<1>, Int<2>, Int<3>, Int<4>>(), rows - 1,
             [&](auto row_count) { add_rows<decltype(row_count)::value, Add>(row, offset, weight, step, count, out); });
}

// Weighted sums of source rows, for columns first .. first + count - 1, which lie inside the image. Packed channels
// stay packed and planar ones planar: plane c goes to out + c * max_source_columns.
template <class T, class R>
inline void sum_rows(const ResampleAxis<R>& axis, const Taps<R>& taps, const ChannelGroup& group, int height, int first,
                     int count, const Pixel<R, 4>& fill, R* out) {
    const int planes = group.packed ? 1 : group.channels, width = group.packed ? count * group.channels : count;
    const T* row[4];
    R weight[4], outside_weight = R(0);
    int pending_rows = 0;  // collected but not yet added; four are added at once
    bool has_sum = false;
    for (int i = 0; i < taps.count; ++i) {
        const int y = taps.clamped_pixel(i);
        if (y < 0 || y >= height) {
            outside_weight += axis.weight_of(taps, i);
        } else {
            weight[pending_rows] = axis.weight_of(taps, i);
            row[pending_rows++] = reinterpret_cast<const T*>(group.data) + y * group.y_stride + first * group.x_stride;
        }
        if (pending_rows == 4 || (pending_rows > 0 && i + 1 == taps.count)) {
            for (int c = 0; c < planes; ++c) {
                const long long step = group.packed ? 1 : group.x_stride;
                R* sum = out + c * max_source_columns;
                if (has_sum)
                    add_rows<true>(row, group.offset[c], weight, pending_rows, step, width, sum);
                else
                    add_rows<false>(row, group.offset[c], weight, pending_rows, step, width, sum);
            }
            has_sum = true;
            pending_rows = 0;
        }
    }
    if (has_sum && outside_weight == R(0)) return;
    for (int c = 0; c < planes; ++c)
        for (int i = 0; i < width; ++i) {
            const R filled = outside_weight * fill.c[group.packed ? i % group.channels : c];
            R& sum = out[c * max_source_columns + i];
            sum = has_sum ? sum + filled : filled;
        }
}

// sum += weight[i] * pixels[i] for `count` pixels, `step` numbers apart; four numbers of each are read.
template <class R>
inline void add_weighted_pixels(const R* __restrict__ pixels, int step, const R* __restrict__ weight, int count,
                                R* __restrict__ sum) {
    R s[4] = {sum[0], sum[1], sum[2], sum[3]};
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < 4; ++k) s[k] += weight[i] * pixels[i * step + k];
    for (int k = 0; k < 4; ++k) sum[k] = s[k];
}

}  // namespace cuaug
