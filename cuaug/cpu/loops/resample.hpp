#pragma once

#include "dispatch_functor.hpp"
#include "records/resample.cuh"
#include "simd8.hpp"
#include "bilinear_resize.hpp"

// A task makes some rows of one frame. An output row is first summed down the columns, where memory is contiguous in
// every layout and each source value is read in place, and then across: eight rows side by side (lanes.hpp), where no
// column needs what lies outside the image.

namespace cuaug {

constexpr int max_columns = 256;    // output pixels of a row made at once
constexpr int max_weights = 16384;  // of those pixels together
constexpr int max_sources = 1024;   // source pixels of a row summed at once

// One output pixel of a row: the source columns it is made of, and where their weights stand if they are that few.
template <class R>
struct ColumnTaps {
    Taps<R> taps;
    int first, count, at;
};

template <class R>
struct ResampleWorkspace {
    static constexpr int pitch = 4 * max_sources + 16, result_pitch = 4 * max_columns;
    alignas(64) R weight[max_weights];
    alignas(64) R rows[lanes * pitch];    // one, or eight
    alignas(64) R pixels[lanes * pitch];  // these again: channels side by side, or all eight rows
    alignas(64) R result[lanes * result_pitch];
    alignas(64) R interleaved_result[lanes * result_pitch];  // these again, all eight rows
    alignas(64) R scratch[4 * max_columns + 16];
    ColumnTaps<R> columns[max_columns];
};
static_assert(sizeof(ResampleWorkspace<double>) <= native::workspace_bytes, "the workspace holds a task's memory");

// Taps of one axis and one sample.
template <class R>
struct ResampleAxis {
    native::Filter filter;
    double start, extent;
    int length, size;
    bool antialias;

    Taps<R> taps(int at) const {
        return dispatch_filter(
            filter, [&](auto kind) { return taps_of<decltype(kind), R>(start, extent, length, size, at, antialias); });
    }

    R weight_of(const Taps<R>& taps, int i) const {
        return dispatch_filter(filter, [&](auto kind) { return weight<decltype(kind)>(taps, i); });
    }
};

// to = or += weight[0] * row 0 + ... for Rows rows of `count` numbers, a step apart. The order of the sum, and with it
// the last bit, is the same for every step.
template <int Rows, bool Add, class T, class R>
inline void add_rows(const T* const* row, long long offset, const R* weight, long long step, int count,
                     R* __restrict__ to) {
    const T* from[Rows];
    for (int k = 0; k < Rows; ++k) from[k] = row[k] + offset;
    auto sum = [&](int i, long long at) {
        R out = Add ? to[i] : R(0);
        for (int k = 0; k < Rows; ++k) out += weight[k] * to_compute<R>(from[k][at]);
        return out;
    };
    if (step == 1)
        for (int i = 0; i < count; ++i) to[i] = sum(i, i);
    else
        for (int i = 0; i < count; ++i) to[i] = sum(i, i * step);
}

template <bool Add, class T, class R>
inline void add_rows(const T* const* row, long long offset, const R* weight, int rows, long long step, int count,
                     R* to) {
    switch (rows) {
        case 1:
            return add_rows<1, Add>(row, offset, weight, step, count, to);
        case 2:
            return add_rows<2, Add>(row, offset, weight, step, count, to);
        case 3:
            return add_rows<3, Add>(row, offset, weight, step, count, to);
        default:
            return add_rows<4, Add>(row, offset, weight, step, count, to);
    }
}

// The sum down columns first .. first + count, all of them inside the image. Packed channels stay packed, and so do
// planes: plane k goes to rows + k * most_sources.
template <class T, class R>
inline void sum_rows(const ResampleAxis<R>& axis, const Taps<R>& taps, const ChannelGroup& plane, int height, int first,
                     int count, const Pixel<R, 4>& fill, R* rows) {
    const int planes = plane.packed ? 1 : plane.channels, width = plane.packed ? count * plane.channels : count;
    const T* from[4];
    R weight[4], outside = R(0);
    int waiting = 0;
    bool add = false;
    for (int i = 0; i < taps.count; ++i) {
        const int row = taps.index(i);
        if (row < 0 || row >= height) {
            outside += axis.weight_of(taps, i);
        } else {
            weight[waiting] = axis.weight_of(taps, i);
            from[waiting++] = reinterpret_cast<const T*>(plane.data) + row * plane.y_stride + first * plane.x_stride;
        }
        if (waiting == 4 || (waiting > 0 && i + 1 == taps.count)) {
            for (int c = 0; c < planes; ++c) {
                const long long step = plane.packed ? 1 : plane.x_stride;
                R* to = rows + c * max_sources;
                if (add)
                    add_rows<true>(from, plane.offset[c], weight, waiting, step, width, to);
                else
                    add_rows<false>(from, plane.offset[c], weight, waiting, step, width, to);
            }
            add = true;
            waiting = 0;
        }
    }
    if (add && outside == R(0)) return;
    for (int c = 0; c < planes; ++c)
        for (int i = 0; i < width; ++i) {
            const R hidden = outside * fill.c[plane.packed ? i % plane.channels : c];
            R& sum = rows[c * max_sources + i];
            sum = add ? sum + hidden : hidden;
        }
}

// Adds `weight[i] * pixel i` of `count` pixels, `step` numbers apart, of which four are read each time.
template <class R>
inline void add_weighted_pixels(const R* __restrict__ pixels, int step, const R* __restrict__ weight, int count,
                                R* __restrict__ sum) {
    R s[4] = {sum[0], sum[1], sum[2], sum[3]};
    for (int i = 0; i < count; ++i)
        for (int k = 0; k < 4; ++k) s[k] += weight[i] * pixels[i * step + k];
    for (int k = 0; k < 4; ++k) sum[k] = s[k];
}

template <class R>
struct ResampleTask {
    native::ResampleCall call;
    Resample args;
    long long n, t;
    int top, bottom;
    ResampleAxis<R> across, down;
    ResampleWorkspace<R>& workspace;
};

// The weights of one output pixel for the source columns low .. high; taps that the box's edge stands in for are added
// up.
template <class R>
inline void compute_weights(const ResampleAxis<R>& axis, const Taps<R>& taps, int low, int high, R* weight) {
    for (int i = low; i < high; ++i) weight[i - low] = R(0);
    for (int i = taps.begin_in(low); i < taps.end_in(high); ++i) weight[taps.index(i) - low] += axis.weight_of(taps, i);
}

// Takes output columns from `left` on into memory, as many as fit; returns how many.
template <class R>
inline int prepare_columns(const ResampleTask<R>& task, int left) {
    ResampleWorkspace<R>& workspace = task.workspace;
    int columns = 0, used = 0;
    for (; columns < max_columns && left + columns < task.args.out_width; ++columns) {
        const Taps<R> taps = task.across.taps(left + columns);
        const int first = taps.index(0), count = taps.count > 0 ? taps.index(taps.count - 1) + 1 - first : 0;
        if (columns > 0 && used + count > max_weights) break;
        workspace.columns[columns] = {taps, first, count, used};
        if (count <= max_weights) compute_weights(task.across, taps, first, first + count, workspace.weight + used);
        used += count;
    }
    return columns;
}

// Four channels of the input, from one on.
template <class R>
struct InputChannels {
    ChannelGroup plane;
    Pixel<R, 4> fill;
    int step;  // numbers from pixel to pixel of a sum down the columns

    const R* at(const R* numbers, int column) const { return numbers + static_cast<long long>(column) * step; }
};

template <class R>
inline InputChannels<R> input_channels(const ResampleTask<R>& task, int c) {
    InputChannels<R> in = {};
    dispatch_image_dtype(task.call.source, [&](auto element) {
        using T = decltype(element);
        if constexpr (is_same_v<ComputeType<T>, R>) {
            in.plane = channel_group<T>(task.args.in, task.n, task.t, c, task.args.channels);
            in.fill = fill_pixel<T>(task.args.fill, task.n, c, task.args.channels);
        }
    });
    in.step = in.plane.packed || in.plane.channels == 1 ? in.plane.channels : 4;
    return in;
}

template <class R>
inline void sum_source_rows(const ResampleTask<R>& task, const InputChannels<R>& in, const Taps<R>& taps, int first,
                            int count, R* rows) {
    dispatch_image_dtype(task.call.source, [&](auto element) {
        using T = decltype(element);
        if constexpr (is_same_v<ComputeType<T>, R>)
            sum_rows<T>(task.down, taps, in.plane, task.args.in_height, first, count, in.fill, rows);
    });
}

template <class R>
inline void store_result_row(const ResampleTask<R>& task, int c, int y, int left, int columns, const R* result) {
    dispatch_image_dtype(task.call.target, [&](auto element) {
        using T = decltype(element);
        const ChannelGroup out = channel_group<T>(task.args.out, task.n, task.t, c, task.args.channels);
        store_pixels<T>(result, columns, out, y, left, task.workspace.scratch);
    });
}

// One row of the columns in memory, whatever of them lies outside the image.
template <class R>
inline void resample_row(const ResampleTask<R>& task, const InputChannels<R>& in, int c, int y, int left, int columns) {
    const Resample& args = task.args;
    ResampleWorkspace<R>& workspace = task.workspace;
    const int begin = workspace.columns[0].first,
              end = workspace.columns[columns - 1].first + workspace.columns[columns - 1].count;
    auto least = [](int a, int b) { return a < b ? a : b; };
    auto most = [](int a, int b) { return a > b ? a : b; };
    const Taps<R> taps = task.down.taps(y);
    const bool empty = taps.count == 0 || end == begin;
    for (int x = 0; x < columns; ++x)
        for (int k = 0; k < 4; ++k) workspace.result[4 * x + k] = empty ? in.fill.c[k] : R(0);
    for (int from = begin; from < end && !empty; from += max_sources) {
        const int to = least(end, from + max_sources), inner_from = most(from, 0), inner_to = least(to, args.in_width);
        const int inner = inner_to - inner_from;
        const R* pixels = workspace.rows;
        if (inner > 0) {
            sum_source_rows(task, in, taps, inner_from, inner, workspace.rows);
            if (in.step == 4 && !in.plane.packed) {
                const R* row[4];
                for (int k = 0; k < 4; ++k) row[k] = workspace.rows + least(k, in.plane.channels - 1) * max_sources;
                interleave4(row[0], row[1], row[2], row[3], inner, workspace.pixels);
                pixels = workspace.pixels;
            }
        }
        for (int x = 0; x < columns; ++x) {
            const ColumnTaps<R>& column = workspace.columns[x];
            const int low = most(column.first, from), high = least(column.first + column.count, to);
            if (low >= high) continue;
            const R* weight = workspace.weight + column.at + (low - column.first);
            if (column.count > max_weights) {
                compute_weights(task.across, column.taps, low, high, workspace.weight);
                weight = workspace.weight;
            }
            const int inside_from = most(low, inner_from), inside_to = most(least(high, inner_to), inside_from);
            R* sum = workspace.result + 4 * x;
            if (inside_to > inside_from)
                add_weighted_pixels(in.at(pixels, inside_from - inner_from), in.step, weight + (inside_from - low),
                                    inside_to - inside_from, sum);
            R outside = R(0);
            for (int i = low; i < least(high, 0); ++i) outside += weight[i - low];
            for (int i = most(low, args.in_width); i < high; ++i) outside += weight[i - low];
            for (int k = 0; k < 4; ++k) sum[k] += outside * in.fill.c[k];
        }
    }
    store_result_row(task, c, y, left, columns, workspace.result);
}

// Up to eight rows from y on, of columns that lie inside the image. Rows and channels that there are not hold what was
// there before, and are not stored.
template <int C, class R>
inline void resample_8_rows(const ResampleTask<R>& task, const InputChannels<R>& in, int c, int y, int rows, int left,
                            int columns) {
    using TileWorkspace = ResampleWorkspace<R>;
    TileWorkspace& workspace = task.workspace;
    const int begin = workspace.columns[0].first,
              width = workspace.columns[columns - 1].first + workspace.columns[columns - 1].count - begin;
    for (int r = 0; r < rows; ++r)
        sum_source_rows(task, in, task.down.taps(y + r), begin, width, workspace.rows + r * TileWorkspace::pitch);
    const bool packed = in.plane.packed;
    for (int k = 0; k < (packed ? 1 : C); ++k)
        interleave8(workspace.rows + k * max_sources, TileWorkspace::pitch, packed ? C * width : width,
                    workspace.pixels + lanes * k * max_sources);
    const int step = packed ? C : 1, plane = packed ? 1 : max_sources;
    for (int x = 0; x < columns; ++x) {
        const ColumnTaps<R>& column = workspace.columns[x];
        weighted_sum8<C>(workspace.pixels + static_cast<long long>(lanes) * step * (column.first - begin), step, plane,
                         workspace.weight + column.at, column.count, workspace.interleaved_result + lanes * 4 * x);
    }
    deinterleave8(workspace.interleaved_result, 4 * columns, workspace.result, TileWorkspace::result_pitch);
    for (int r = 0; r < rows; ++r)
        store_result_row(task, c, y + r, left, columns, workspace.result + r * TileWorkspace::result_pitch);
}

// Four channels from c on, of the columns in memory.
template <class R>
inline void resample_columns(const ResampleTask<R>& task, int c, int left, int columns) {
    const ResampleWorkspace<R>& workspace = task.workspace;
    const InputChannels<R> in = input_channels(task, c);
    const ColumnTaps<R>&first = workspace.columns[0], &last = workspace.columns[columns - 1];
    const int begin = first.first, end = last.first + last.count;
    const bool simple = begin >= 0 && end > begin && end <= task.args.in_width && end - begin <= max_sources &&
                        first.count <= max_weights && task.down.taps(task.top).count > 0;
    for (int y = task.top; y < task.bottom; y += simple ? lanes : 1) {
        const int rows = task.bottom - y < lanes ? task.bottom - y : lanes;
        if (!simple)
            resample_row(task, in, c, y, left, columns);
        else if (in.plane.channels == 1)
            resample_8_rows<1>(task, in, c, y, rows, left, columns);
        else if (in.plane.channels == 2)
            resample_8_rows<2>(task, in, c, y, rows, left, columns);
        else if (in.plane.channels == 3)
            resample_8_rows<3>(task, in, c, y, rows, left, columns);
        else
            resample_8_rows<4>(task, in, c, y, rows, left, columns);
    }
}

template <class R>
inline void resample_rows(const ResampleTask<R>& task) {
    for (int left = 0, columns; left < task.args.out_width; left += columns) {
        columns = prepare_columns(task, left);
        for (int c = 0; c < task.args.channels; c += 4) resample_columns(task, c, left, columns);
    }
}

// Enough tasks for the threads of most machines, but no more: each works the columns' weights out anew, which takes as
// long as 14 rows.
inline int rows_per_task(const Resample& args) {
    const long long enough = 64, frames = args.samples * args.frames, parts = frames >= enough ? 1 : enough / frames;
    const long long rows = (args.out_height + parts - 1) / parts;
    return static_cast<int>(rows < 16 ? 16 : rows);
}

inline Resample resample_record(const native::ResampleCall& call) {
    Resample args;
    memcpy(&args, call.record, sizeof(args));
    return args;
}

long long resample_tasks(const native::ResampleCall& call) {
    const Resample args = resample_record(call);
    const long long frames = args.samples * args.frames;
    if (frames == 0 || args.channels == 0 || args.out_width == 0) return 0;
    return frames * ((args.out_height + rows_per_task(args) - 1) / rows_per_task(args));
}

template <class R>
inline void resample_typed(const native::ResampleCall& call, long long task, void* memory) {
    Resample args = resample_record(call);
    const TaskRows rows = task_rows(args, args.out_height, rows_per_task(args), task);
    const long long n = rows.n;
    select_ragged_image(args, n);
    dispatch_image_dtype(call.target, [&](auto element) {
        auto turn = [&](long long& stride, int extent) {
            args.out.data = static_cast<decltype(element)*>(args.out.data) + (extent - 1) * stride;
            stride = -stride;
        };
        if (upside_down(args, n)) turn(args.out.y, args.out_height);
        if (left_to_right(args, n)) turn(args.out.x, args.out_width);
    });
    const bool antialias = args.antialias != 0;
    const ResampleAxis<R> across = {call.filter,   box_side(args, n, 1), box_side(args, n, 3),
                                    args.in_width, args.out_width,       antialias};
    const ResampleAxis<R> down = {call.filter,    box_side(args, n, 0), box_side(args, n, 2),
                                  args.in_height, args.out_height,      antialias};
    if constexpr (is_same_v<R, float>)
        if (call.filter == filter_of<Triangle> && !antialias && call.source == dtype_of<uint8> &&
            call.target == dtype_of<uint8>) {
            auto positions = [](const ResampleAxis<R>& axis, const Taps<R>& taps) {  // none of a box that is not one
                return AxisPositions{axis.start, axis.extent / axis.size, taps.count > 0 ? taps.low : -1, taps.high};
            };
            const bool done = resize_bilinear(args, n, rows.t, rows.top, rows.bottom, positions(across, across.taps(0)),
                                              positions(down, down.taps(0)), *static_cast<SeparableWorkspace*>(memory));
            if (done) return;
        }
    resample_rows(ResampleTask<R>{call, args, n, rows.t, rows.top, rows.bottom, across, down,
                                  *static_cast<ResampleWorkspace<R>*>(memory)});
}

void resample_task(const native::ResampleCall& call, long long task, void* memory) {
    if (call.source == dtype_of<float64>)
        resample_typed<double>(call, task, memory);
    else
        resample_typed<float>(call, task, memory);
}

}  // namespace cuaug
