#pragma once

#include "borders/border.cuh"
#include "records/gaussian_blur.cuh"
#include "pixel_io.hpp"

// The loop of kernels/passes/gaussian_blur.cu: horizontally, then vertically. A task is some rows of a frame. For a
// segment of a row, a ring holds the source rows that the kernel covers, filtered horizontally.

namespace cuaug {

constexpr int blur_width = 128;

template <class R>
struct BlurWorkspace {
    R x_weights[max_taps], y_weights[max_taps];
    R line[4 * (blur_width + max_taps)];
    R scratch[4 * (blur_width + max_taps) + 4];
    R sum[4 * blur_width];
    R ring[max_taps][4 * blur_width];
};
static_assert(sizeof(BlurWorkspace<double>) <= native::workspace_bytes);

// The sum of the weights is 1.
template <class R>
inline void gaussian_weights(R* weight, int size, double sigma) {
    R sum = R(0);
    for (int i = 0; i < size; ++i) sum += weight[i] = gaussian_weight<R>(i - size / 2, sigma);
    for (int i = 0; i < size; ++i) weight[i] /= sum;
}

// sum = sum of weight[t] * in(t) over all taps; pixels are four numbers.
template <class R, class In>
inline void weighted_sum_of_rows(const In& in, const R* weight, int taps, int count, R* __restrict__ sum) {
    memset(sum, 0, sizeof(R) * 4 * count);
    for (int t = 0; t < taps; ++t) {
        const R factor = weight[t];
        const R* __restrict__ values = in(t);
        for (int i = 0; i < 4 * count; ++i) sum[i] += factor * values[i];
    }
}

// Columns first .. first + count of a row, the border resolved. A kernel is centered, so that columns outside reflect
// to columns that are loaded.
template <class T, class R>
inline void load_row_reflected(const ChannelGroup& in, int row, int first, int count, int width, R* line, R* scratch) {
    const int low = first > 0 ? first : 0, high = first + count < width ? first + count : width;
    load_pixels<T>(in, row, low, high - low, line + 4 * (low - first), scratch);
    for (int i = first; i < first + count; ++i)
        if (i < low || i >= high)
            memcpy(line + 4 * (i - first), line + 4 * (Reflect::resolve(i, width) - first), 4 * sizeof(R));
}

template <class T>
inline void blur_segment(const GaussianBlurRecord& args, const ChannelGroup& in, const ChannelGroup& out, int left,
                         int count, int top, int bottom, BlurWorkspace<ComputeType<T>>& workspace) {
    const int above = args.kernel_height / 2, before = args.kernel_width / 2;
    auto slot = [&](int row) { return workspace.ring[(row - top + above) % args.kernel_height]; };
    for (int y = top, next_row = top - above; y < bottom; ++y) {
        for (; next_row <= y + above; ++next_row) {
            load_row_reflected<T>(in, Reflect::resolve(next_row, args.in_height), left - before,
                                  count + args.kernel_width - 1, args.in_width, workspace.line, workspace.scratch);
            weighted_sum_of_rows([&](int t) { return workspace.line + 4 * t; }, workspace.x_weights, args.kernel_width,
                                 count, slot(next_row));
        }
        weighted_sum_of_rows([&](int t) { return slot(y - above + t); }, workspace.y_weights, args.kernel_height, count,
                             workspace.sum);
        store_pixels<T>(workspace.sum, count, out, y, left, workspace.scratch);
    }
}

// Few rows, so that one image alone has enough tasks for the threads of any machine, but not too few: each task filters
// the rows above and below its own anew.
inline int rows_per_blur_task(const GaussianBlurRecord& args) {
    const long long enough = 64, frames = args.samples * args.frames, parts = frames >= enough ? 1 : enough / frames;
    const long long rows = (args.in_height + parts - 1) / parts, min_rows = 2 * args.kernel_height;
    return static_cast<int>(rows < min_rows ? min_rows : rows);
}

long long gaussian_blur_tasks(const native::ImageCall& call) {
    const auto args = read_record<GaussianBlurRecord>(call.record);
    const long long frames = args.samples * args.frames;
    return frames == 0 ? 0 : frames * ((args.in_height + rows_per_blur_task(args) - 1) / rows_per_blur_task(args));
}

void gaussian_blur_task(const native::ImageCall& call, long long task, void* memory) {
    const auto args = read_record<GaussianBlurRecord>(call.record);
    const TaskRows rows = task_rows(args, args.in_height, rows_per_blur_task(args), task);
    dispatch_image_dtype(call.source, [&](auto element) {
        using T = decltype(element);
        auto& workspace = *static_cast<BlurWorkspace<ComputeType<T>>*>(memory);
        gaussian_weights(workspace.x_weights, args.kernel_width, sigma_of(args, rows.n, 0));
        gaussian_weights(workspace.y_weights, args.kernel_height, sigma_of(args, rows.n, 1));
        for (int c = 0; c < args.channels; c += 4)
            for (int x = 0; x < args.in_width; x += blur_width)
                blur_segment<T>(args, channel_group<T>(args.in, rows.n, rows.t, c, args.channels),
                                channel_group<T>(args.out, rows.n, rows.t, c, args.channels), x,
                                args.in_width - x < blur_width ? args.in_width - x : blur_width, rows.top, rows.bottom,
                                workspace);
    });
}

}  // namespace cuaug
