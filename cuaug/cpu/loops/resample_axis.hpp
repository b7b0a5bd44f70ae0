#pragma once

#include "dispatch_functor.hpp"
#include "pixel_io.hpp"
#include "simd8.hpp"

// The weights of separable resampling, and weighted sums down columns and along rows.

namespace cuaug {

constexpr int max_columns = 256;    // output pixels of a row computed at once
constexpr int max_weights = 16384;  // of those pixels together
constexpr int max_sources = 1024;   // source pixels of a row summed at once

// The source columns of one output pixel of a row.
template <class R>
struct ColumnTaps {
    Taps<R> taps;
    int first, count;
    int weight_offset;  // of the first weight in the workspace, if there are at most max_weights
};

template <class R>
struct ResampleWorkspace {
    static constexpr int pitch = 4 * max_sources + 16, result_pitch = 4 * max_columns;
    alignas(64) R weight[max_weights];
    alignas(64) R rows[lanes * pitch];    // sums down the columns: one row, or eight
    alignas(64) R pixels[lanes * pitch];  // `rows` with interleaved channels, or interleaved rows
    alignas(64) R result[lanes * result_pitch];
    alignas(64) R interleaved_result[lanes * result_pitch];  // `result` of eight rows, interleaved
    alignas(64) R scratch[4 * max_columns + 16];
    ColumnTaps<R> columns[max_columns];
};
static_assert(sizeof(ResampleWorkspace<double>) <= native::workspace_bytes);

// One axis of one sample.
template <class R>
struct ResampleAxis {
    native::Filter filter;
    double start, extent;
    int length, size;
    bool antialias;

    Taps<R> taps(int i) const {
        return dispatch_filter(
            filter, [&](auto kind) { return taps_of<decltype(kind), R>(start, extent, length, size, i, antialias); });
    }

    R weight_of(const Taps<R>& taps, int i) const {
        return dispatch_filter(filter, [&](auto kind) { return weight<decltype(kind)>(taps, i); });
    }
};

// The weights of one output pixel for source columns low .. high. At the edge of the box several taps may share a
// column: their weights are added up.
template <class R>
inline void compute_weights(const ResampleAxis<R>& axis, const Taps<R>& taps, int low, int high, R* weight) {
    for (int i = low; i < high; ++i) weight[i - low] = R(0);
    for (int i = taps.begin_in(low); i < taps.end_in(high); ++i)
        weight[taps.clamped_pixel(i) - low] += axis.weight_of(taps, i);
}

// out (=, or += if Add) weight[0] * row[0] + ... for Rows rows of `count` numbers, `step` apart. The order of the sum,
// and with it the last bit, does not depend on the step.
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
             [&](auto all) { add_rows<decltype(all)::value, Add>(row, offset, weight, step, count, out); });
}

// Weighted sums down columns first .. first + count, which lie inside the image. Packed channels stay packed, planar
// ones planar: plane k goes to out + k * max_sources.
template <class T, class R>
inline void sum_rows(const ResampleAxis<R>& axis, const Taps<R>& taps, const ChannelGroup& group, int height, int first,
                     int count, const Pixel<R, 4>& fill, R* out) {
    const int planes = group.packed ? 1 : group.channels, width = group.packed ? count * group.channels : count;
    const T* row[4];
    R weight[4], outside = R(0);
    int rows = 0;  // collected, of the four that are added at once
    bool add = false;
    for (int i = 0; i < taps.count; ++i) {
        const int y = taps.clamped_pixel(i);
        if (y < 0 || y >= height) {
            outside += axis.weight_of(taps, i);
        } else {
            weight[rows] = axis.weight_of(taps, i);
            row[rows++] = reinterpret_cast<const T*>(group.data) + y * group.y_stride + first * group.x_stride;
        }
        if (rows == 4 || (rows > 0 && i + 1 == taps.count)) {
            for (int c = 0; c < planes; ++c) {
                const long long step = group.packed ? 1 : group.x_stride;
                R* sum = out + c * max_sources;
                if (add)
                    add_rows<true>(row, group.offset[c], weight, rows, step, width, sum);
                else
                    add_rows<false>(row, group.offset[c], weight, rows, step, width, sum);
            }
            add = true;
            rows = 0;
        }
    }
    if (add && outside == R(0)) return;
    for (int c = 0; c < planes; ++c)
        for (int i = 0; i < width; ++i) {
            const R filled = outside * fill.c[group.packed ? i % group.channels : c];
            R& sum = out[c * max_sources + i];
            sum = add ? sum + filled : filled;
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
