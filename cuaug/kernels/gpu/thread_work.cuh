#pragma once

#include "records/pointwise.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/reduce.cuh"
#include "gpu/vectors.cuh"

// Shared by the kernels whose threads process groups of four adjacent pixels, one below the other: pointwise, blend,
// luma_mean, lut and mix. warp_copy.cuh stores its pixels with `store_unit_range`.

namespace cuaug {

constexpr int pointwise_threads = 256;

// Loads and prepares the parameters of sample n. Called by one warp. The first partial sums of a mean are loaded at the
// same time as the other parameters.
template <class Ops, class R>
inline void read_params(const PointwiseRecord& args, long long n, int first_channel, R* params, R max_value) {
    const int lane = threadIdx.x & 31, parts = args.mean_column < 0 ? 0 : args.partial_count;
    const double* part = static_cast<const double*>(args.partial_sums.data) + n * args.partial_sums.n_stride;
    double mean = lane < parts ? part[lane * args.partial_sums.x_stride] : 0.0;
    int mean_index = -1;
    for (int i = lane; i < Ops::param_count; i += 32) {
        const int column = Ops::column(i, 0, first_channel, args.channels);
        if (column == args.mean_column)
            mean_index = i;
        else
            params[i] = static_cast<R>(stored_parameter(args, n, column));
    }
    for (int j = lane + 32; j < parts; j += 32) mean += part[j * args.partial_sums.x_stride];
    if (parts > 0) mean = warp_sum(mean);
    if (mean_index >= 0) params[mean_index] = static_cast<R>(mean);
    __syncwarp();
    if (lane == 0) Ops::prepare(params, max_value);
}

// Pixels that are scaled to 0..1 -> K vectors for memory. `pack_two` makes a word of two adjacent 16-bit floats.
// in_unit_range: no value is outside 0..1, so none is clamped.
template <class Layout, class T, bool in_unit_range, class R, int K>
inline void unit_range_to_elements(const Pixel<R, K> (&pixels)[4], FourElements<T> (&to)[K]) {
    if constexpr (is_same_v<R, float> && (is_same_v<T, float16> || is_same_v<T, bfloat16>)) {
        for (int p = 0; p < 4 * K; p += 2) {
            auto element = [&](int i) {
                return is_same_v<Layout, Planar> ? pixels[i % 4].c[i / 4] : pixels[i / K].c[i % K];
            };
            to[p / 4].word[p % 4 / 2] = pack_two<T>(element(p), element(p + 1));
        }
    } else {
        FourPixels<T, K> stored;
        for (int j = 0; j < 4; ++j) stored.v[j] = pack_unit_range<T, in_unit_range>(pixels[j]);
        pixels_to_elements<Layout, T, K>(stored, to);
    }
}

// Stores the first `channels` channels of `count` pixels that are scaled to 0..1.
template <class Layout, class T, bool in_unit_range, class R, int K>
inline void store_unit_range(T* at, const long long* offset, int step, bool aligned, int count, int channels,
                             const Pixel<R, K> (&pixels)[4]) {
    if constexpr (!is_same_v<Layout, Strided>) {
        if (aligned && count == 4) {
            FourElements<T> to[K];
            unit_range_to_elements<Layout, T, in_unit_range>(pixels, to);
            return store_elements<Layout, T, K>(at, offset, to);
        }
    }
    FourPixels<T, K> stored;
    for (int j = 0; j < 4; ++j) stored.v[j] = pack_unit_range<T, in_unit_range>(pixels[j]);
    store_pixels<Strided, T, K>(at, offset, step, false, count, channels, stored);
}

// The groups of four adjacent pixels of a frame that a thread makes: `steps` groups, one below the other, in every
// `row_step`-th row from y on.
struct ThreadWork {
    int x, y, row_step, steps;
    int count;  // pixels of a group: four, or fewer at the right edge
};

// For a strip of `columns` groups, from group `first` of a row on. The strip's rows are divided into runs (blockIdx.y).
inline ThreadWork work_in_strip(int first, int columns, int width, int height) {
    const int rows_at_once = pointwise_threads / columns, row_in_run = threadIdx.x / columns,
              x = 4 * (first + threadIdx.x - row_in_run * columns);
    const int run = ((height + gridDim.y - 1) / gridDim.y + rows_at_once - 1) / rows_at_once * rows_at_once;
    const int begin = blockIdx.y * run + row_in_run,
              end = row_in_run < rows_at_once ? min((blockIdx.y + 1) * run, height) : 0;
    return {x, begin, rows_at_once, end > begin ? (end - begin - 1) / rows_at_once + 1 : 0, min(4, width - x)};
}

// For a frame divided into strips of columns (blockIdx.x) and runs of rows (blockIdx.y).
inline ThreadWork work_in_strips(int width, int height) {
    const int groups_per_row = (width + 3) / 4, strip = (groups_per_row + gridDim.x - 1) / gridDim.x,
              first = strip * blockIdx.x;
    return work_in_strip(first, min(strip, groups_per_row - first), width, height);
}

// For a frame without gaps between its rows, read as one array: divided into lines of one group per thread of a block,
// and the lines into a run per block. `y` counts lines.
inline ThreadWork work_on_contiguous_frame(long long pixels) {
    const long long groups = pixels / 4;
    const int lines = static_cast<int>((groups + pointwise_threads - 1) / pointwise_threads),
              thread_groups = static_cast<int>((groups + pointwise_threads - 1 - threadIdx.x) / pointwise_threads);
    const int runs = gridDim.x * gridDim.y, run = (lines + runs - 1) / runs,
              begin = (blockIdx.y * gridDim.x + blockIdx.x) * run;
    return {4 * static_cast<int>(threadIdx.x), begin, 1, max(min(begin + run, thread_groups) - begin, 0), 4};
}

// A thread's way through the groups of a frame, in the input and in the result. If the rows have no gaps and a frame is
// a multiple of four pixels, the frame is taken as one contiguous array, unless an op uses the position of pixels.
template <class InLayout, class OutLayout, int K, int OutK = K>
struct FrameWalk {
    int in_step, out_step;  // from pixel to pixel
    ThreadWork work;
    long long in_first, out_first;      // the thread's first group, from the frame's first pixel
    long long in_advance, out_advance;  // from a group to the next
    bool loads_vectors;

    FrameWalk(const BatchRecord& args, bool uses_position)
        : in_step(column_stride<InLayout, K>(args.in.x_stride)),
          out_step(column_stride<OutLayout, OutK>(args.out.x_stride)) {
        const int width = args.in_width;
        const long long pixels = static_cast<long long>(width) * args.in_height;
        const bool is_contiguous = !uses_position && pixels % 4 == 0 &&
                                   args.in.y_stride == static_cast<long long>(width) * in_step &&
                                   args.out.y_stride == static_cast<long long>(width) * out_step;
        if (is_contiguous)
            work = work_on_contiguous_frame(pixels);
        else
            work = work_in_strips(width, args.in_height);
        const long long in_row = is_contiguous ? 4LL * pointwise_threads * in_step : args.in.y_stride,
                        out_row = is_contiguous ? 4LL * pointwise_threads * out_step : args.out.y_stride;
        in_first = work.y * in_row + static_cast<long long>(work.x) * in_step;
        out_first = work.y * out_row + static_cast<long long>(work.x) * out_step;
        // Without `opaque` the compiler computes both products, and `loads_vectors`, again for each group.
        in_advance = opaque(work.row_step * in_row), out_advance = opaque(work.row_step * out_row);
        loads_vectors = !is_same_v<InLayout, Strided> && args.in_vector_elements && work.count == 4;
    }

    // How many groups every lane of the warp has; 0 if a lane's groups have fewer than four pixels. Called by all
    // lanes.
    int whole_warp_steps() const { return warp_min(work.count == 4 ? work.steps : 0); }

    // Loads groups of the input. All are requested before the first is used.
    template <class T, int Groups>
    void load(const T* const (&at)[Groups], const long long* offsets, FourPixels<T, K> (&four)[Groups]) const {
        if (loads_vectors) {
            Vectors<T, K, 1> raw[Groups];
            for (int i = 0; i < Groups; ++i) raw[i] = load_vectors<InLayout, T, K>(at[i], offsets);
            for (int i = 0; i < Groups; ++i) four[i] = elements_to_pixels<InLayout, T, K>(raw[i].elements[0]);
        } else {
            for (int i = 0; i < Groups; ++i)
                four[i] = load_pixels<Strided, T, K>(at[i], offsets, in_step, false, work.count);
        }
    }
};

}  // namespace cuaug
