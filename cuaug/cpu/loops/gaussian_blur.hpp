#pragma once

#include "borders/border.cuh"
#include "records/gaussian_blur.cuh"
#include "batch_record.hpp"
#include "pixel_io.hpp"
#include "task_rows.hpp"

// The CPU loop that corresponds to kernels/passes/gaussian_blur.cu. It filters horizontally, then vertically. A task is
// some rows of a frame, of which up to blur_width columns at a time are computed. A ring holds the source rows that the
// kernel covers, filtered horizontally.

namespace cuaug {

constexpr int blur_width = 128;

template <class R>
struct BlurWorkspace {
    R x_weights[max_taps], y_weights[max_taps];
    R padded_row[4 * (blur_width + max_taps)];
    R scratch[4 * (blur_width + max_taps)];
    R sum[4 * blur_width];
    R ring[max_taps][4 * blur_width];
    const R* tap_values[max_taps];  // the row of pixels that each tap weighs
};
static_assert(sizeof(BlurWorkspace<double>) <= native::workspace_bytes);

// Computes the weights of a kernel; their sum is 1. Those up to `min_weight` then become 0.
template <class R>
__attribute__((noinline)) void gaussian_weights(R* weight, int size, double sigma, R min_weight) {
    R sum = R(0);
    for (int i = 0; i < size; ++i) sum += weight[i] = gaussian_weight<R>(i - size / 2, sigma);
    for (int i = 0; i < size; ++i) {
        weight[i] /= sum;
        if (weight[i] <= min_weight) weight[i] = R(0);
    }
}

// sum = the sum of weight[t] * row[t] over all taps, for `count` pixels of four numbers each. The weights are
// symmetric. Outer taps of weight 0 are skipped, as on the GPU (gpu/gaussian_filter.cuh): 0 times infinity is NaN. Not
// inlined, so that dtypes of one compute type share the code.
template <class R>
__attribute__((noinline)) void weighted_sum_of_rows(const R* const* row, const R* weight, int taps, int count,
                                                    R* __restrict__ sum) {
    while (weight[0] == R(0)) ++row, ++weight, taps -= 2;
    memset(sum, 0, sizeof(R) * 4 * count);
    for (int t = 0; t < taps; ++t) {
        const R factor = weight[t];
        const R* __restrict__ values = row[t];
        for (int i = 0; i < 4 * count; ++i) sum[i] += factor * values[i];
    }
}

// Loads columns first .. first + count - 1 of a row, with reflected pixels for columns outside the image. A column
// outside the image is reflected to a column as far inside. The kernel is centred, so it covers that column too, and
// the column is loaded already.
template <class T, class R>
inline void load_row_reflected(const ChannelGroup& in, int row, int first, int count, int width, R* padded_row,
                               R* scratch) {
    const int low = first > 0 ? first : 0, high = first + count < width ? first + count : width;
    load_pixels<T>(in, row, low, high - low, padded_row + 4 * (low - first), scratch);
    for (int i = first; i < first + count; ++i)
        if (i < low || i >= high)
            memcpy(padded_row + 4 * (i - first), padded_row + 4 * (Reflect::resolve(i, width) - first), 4 * sizeof(R));
}

template <class T>
inline void blur_segment(const GaussianBlurRecord& args, const ChannelGroup& in, const ChannelGroup& out, int left,
                         int count, int top, int bottom, BlurWorkspace<ComputeType<T>>& workspace) {
    const int half_height = args.kernel_height / 2, half_width = args.kernel_width / 2;
    auto ring_row = [&](int row) { return workspace.ring[(row - top + half_height) % args.kernel_height]; };
    for (int y = top, next_row = top - half_height; y < bottom; ++y) {
        for (; next_row <= y + half_height; ++next_row) {
            load_row_reflected<T>(in, Reflect::resolve(next_row, args.in_height), left - half_width,
                                  count + args.kernel_width - 1, args.in_width, workspace.padded_row,
                                  workspace.scratch);
            for (int i = 0; i < args.kernel_width; ++i) workspace.tap_values[i] = workspace.padded_row + 4 * i;
            weighted_sum_of_rows(workspace.tap_values, workspace.x_weights, args.kernel_width, count,
                                 ring_row(next_row));
        }
        for (int i = 0; i < args.kernel_height; ++i) workspace.tap_values[i] = ring_row(y - half_height + i);
        weighted_sum_of_rows(workspace.tap_values, workspace.y_weights, args.kernel_height, count, workspace.sum);
        store_pixels<T>(workspace.sum, count, out, y, left, workspace.scratch);
    }
}

// The number of rows is small, so that one image alone has enough tasks for the threads of most machines, but not too
// small: each task also filters kernel_height / 2 rows on either side of its own, as its neighbours do.
inline int rows_per_blur_task(const GaussianBlurRecord& args) {
    const long long wanted_tasks = 64, frames = args.samples * args.frames,
                    tasks_per_frame = frames >= wanted_tasks ? 1 : wanted_tasks / frames;
    const long long rows = (args.in_height + tasks_per_frame - 1) / tasks_per_frame, min_rows = 2 * args.kernel_height;
    return static_cast<int>(rows < min_rows ? min_rows : rows);
}

long long gaussian_blur_task_count(const native::RecordCall& call) {
    const auto args = read_record<GaussianBlurRecord>(call.record);
    const long long frames = args.samples * args.frames;
    return frames == 0 ? 0 : frames * ((args.in_height + rows_per_blur_task(args) - 1) / rows_per_blur_task(args));
}

void gaussian_blur_task(const native::RecordCall& call, long long task, void* memory) {
    const auto args = read_record<GaussianBlurRecord>(call.record);
    const TaskRows rows = task_rows(args, args.in_height, rows_per_blur_task(args), task);
    dispatch_image_dtype(call.in_dtype, [&](auto element) {
        using T = decltype(element);
        auto& workspace = *static_cast<BlurWorkspace<ComputeType<T>>*>(memory);
        const auto least = static_cast<ComputeType<T>>(min_weight<T>);
        gaussian_weights(workspace.x_weights, args.kernel_width, sigma_of(args, rows.n, 0), least);
        gaussian_weights(workspace.y_weights, args.kernel_height, sigma_of(args, rows.n, 1), least);
        for (int c = 0; c < args.channels; c += 4)
            for (int x = 0; x < args.in_width; x += blur_width)
                blur_segment<T>(args, channel_group<T>(args.in, rows.n, rows.t, c, args.channels),
                                channel_group<T>(args.out, rows.n, rows.t, c, args.channels), x,
                                args.in_width - x < blur_width ? args.in_width - x : blur_width, rows.top, rows.bottom,
                                workspace);
    });
}

}  // namespace cuaug
