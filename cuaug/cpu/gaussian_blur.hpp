#pragma once

#include "../kernels/border.cuh"
#include "../kernels/gaussian_blur_record.cuh"
#include "rows.hpp"

// As kernels/gaussian_blur.cu: across, then down. A task is some rows of a frame. For a piece of a row, the source rows
// that the kernel reaches are kept, filtered across, in a ring.

namespace cuaug {

constexpr int blur_width = 128;

template <class R>
struct BlurMemory {
    R across[most_taps], down[most_taps];
    R line[4 * (blur_width + most_taps)];
    R scratch[4 * (blur_width + most_taps) + 4];
    R sum[4 * blur_width];
    R ring[most_taps][4 * blur_width];
};
static_assert(sizeof(BlurMemory<double>) <= native::workspace_bytes);

// Weights of the Gaussian, whose sum is 1.
template <class R>
inline void weigh_gaussian(R* weight, int size, double sigma) {
    R sum = R(0);
    for (int i = 0; i < size; ++i) sum += weight[i] = gaussian_weight<R>(i - size / 2, sigma);
    for (int i = 0; i < size; ++i) weight[i] /= sum;
}

// sum[i] = weight[t] * in(t)[i] over all t, pixels being four numbers.
template <class R, class In>
inline void blur_sum(const In& in, const R* weight, int taps, int count, R* __restrict__ sum) {
    memset(sum, 0, sizeof(R) * 4 * count);
    for (int t = 0; t < taps; ++t) {
        const R factor = weight[t];
        const R* __restrict__ from = in(t);
        for (int i = 0; i < 4 * count; ++i) sum[i] += factor * from[i];
    }
}

// Columns first .. first + count of a row, the border resolved. Reflected ones lie among those inside, as a kernel is
// about its middle.
template <class T, class R>
inline void load_reflected(const Plane& in, int row, int first, int count, int width, R* line, R* scratch) {
    const int low = first > 0 ? first : 0, high = first + count < width ? first + count : width;
    load_pixels<T>(in, row, low, high - low, line + 4 * (low - first), scratch);
    for (int i = first; i < first + count; ++i)
        if (i < low || i >= high)
            memcpy(line + 4 * (i - first), line + 4 * (Reflect::index(i, width) - first), 4 * sizeof(R));
}

template <class T>
inline void blur_piece(const GaussianBlur& args, const Plane& in, const Plane& out, int left, int count, int top,
                       int bottom, BlurMemory<Real<T>>& memory) {
    const int above = args.kernel_height / 2, before = args.kernel_width / 2;
    auto slot = [&](int row) { return memory.ring[(row - top + above) % args.kernel_height]; };
    for (int y = top, made = top - above; y < bottom; ++y) {
        for (; made <= y + above; ++made) {
            load_reflected<T>(in, Reflect::index(made, args.in_height), left - before, count + args.kernel_width - 1,
                              args.in_width, memory.line, memory.scratch);
            blur_sum([&](int t) { return memory.line + 4 * t; }, memory.across, args.kernel_width, count, slot(made));
        }
        blur_sum([&](int t) { return slot(y - above + t); }, memory.down, args.kernel_height, count, memory.sum);
        store_pixels<T>(memory.sum, count, out, y, left, memory.scratch);
    }
}

// Enough tasks for the threads of any machine, but no more: each filters the rows above and below it anew.
inline int blur_rows(const GaussianBlur& args) {
    const long long enough = 64, frames = args.samples * args.frames, parts = frames >= enough ? 1 : enough / frames;
    const long long rows = (args.in_height + parts - 1) / parts, least = 2 * args.kernel_height;
    return static_cast<int>(rows < least ? least : rows);
}

inline GaussianBlur blur_record(const native::GaussianBlurCall& call) {
    GaussianBlur args;
    memcpy(&args, call.record, sizeof(args));
    return args;
}

inline long long gaussian_blur_tasks(const native::GaussianBlurCall& call) {
    const GaussianBlur args = blur_record(call);
    const long long frames = args.samples * args.frames;
    return frames == 0 ? 0 : frames * ((args.in_height + blur_rows(args) - 1) / blur_rows(args));
}

inline void gaussian_blur_task(const native::GaussianBlurCall& call, long long task, void* workspace) {
    const GaussianBlur args = blur_record(call);
    const TaskRows rows = task_rows(args, args.in_height, blur_rows(args), task);
    with_source(call.source, [&](auto element) {
        using T = decltype(element);
        auto& memory = *static_cast<BlurMemory<Real<T>>*>(workspace);
        weigh_gaussian(memory.across, args.kernel_width, sigma_of(args, rows.n, 0));
        weigh_gaussian(memory.down, args.kernel_height, sigma_of(args, rows.n, 1));
        for (int c = 0; c < args.channels; c += 4)
            for (int x = 0; x < args.in_width; x += blur_width)
                blur_piece<T>(args, plane<T>(args.in, rows.n, rows.t, c, args.channels),
                              plane<T>(args.out, rows.n, rows.t, c, args.channels), x,
                              args.in_width - x < blur_width ? args.in_width - x : blur_width, rows.top, rows.bottom,
                              memory);
    });
}

}  // namespace cuaug
