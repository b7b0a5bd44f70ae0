#pragma once

#include "gpu/channel_ops.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "records/resample.cuh"

// The result of `resample` (passes/resample.cu): where it lies, which part of it shows the resized box, and which part
// a block makes.

namespace cuaug {

constexpr int resize_threads = 128, resize_warps = resize_threads / 32;

// The result is the whole resized box, or a window of it, or the whole box in a size of the sample's own. Separate
// kernels: the code of windows leaves the horizontal filter too few registers to load all pixels before it uses the
// first ones (benchmarks/log/resize-window.md).
struct WholeBox {};
struct BoxWindow {};
struct OwnSize {};

// The part of a result that a block makes: at most 32 columns, and the same number of rows for each warp.
struct OutputTile {
    int left, top, columns, rows, warp_rows;

    bool is_empty() const { return columns <= 0 || rows <= 0; }
};

inline OutputTile output_tile(int height, int width) {
    const int warp_rows = (height + resize_warps * gridDim.y - 1) / (resize_warps * gridDim.y),
              tile_rows = warp_rows * resize_warps;
    const int left = blockIdx.x * 32, top = blockIdx.y * tile_rows;
    return {left, top, min(32, width - left), min(tile_rows, height - top), warp_rows};
}

// The part of a result that shows the resized box: a window may reach beyond the box.
struct BoxRegion {
    int top, left, height, width;
};

template <class Part>
inline BoxRegion box_region(const ResampleRecord& args, long long n) {
    if constexpr (is_same_v<Part, OwnSize>) {
        const ResultPlacement image = result_placement(args, n);
        return {0, 0, image.height, image.width};
    } else if constexpr (is_same_v<Part, BoxWindow>) {
        const AxisRange rows = range_in_box(window_rows(args, n), 0, args.out_height),
                        columns = range_in_box(window_columns(args, n), 0, args.out_width);
        return {rows.begin, columns.begin, rows.size(), columns.size()};
    } else {
        return {0, 0, args.out_height, args.out_width};
    }
}

// Which rows of the resized box the region shows: the box has `box_size` rows, and the region begins at `first`.
template <class Part>
inline AxisWindow result_rows(const ResampleRecord& args, long long n) {
    if constexpr (is_same_v<Part, BoxWindow>) {
        const AxisWindow rows = window_rows(args, n);
        return {max(rows.first, 0), rows.box_size};
    }
    return {0, is_same_v<Part, OwnSize> ? result_placement(args, n).height : args.out_height};
}

template <class Part>
inline AxisWindow result_columns(const ResampleRecord& args, long long n) {
    if constexpr (is_same_v<Part, BoxWindow>) {
        const AxisWindow columns = window_columns(args, n);
        return {max(columns.first, 0), columns.box_size};
    }
    return {0, is_same_v<Part, OwnSize> ? result_placement(args, n).width : args.out_width};
}

// Where a sample's result lies. Strides in elements.
template <class Out>
struct OutputImage {
    Out* data;
    long long c_stride, y_stride;
};

template <class Out, class OutLayout, class Part>
inline OutputImage<Out> output_image(const ResampleRecord& args, long long n, long long t) {
    Out* data = static_cast<Out*>(args.out.data);
    if constexpr (is_same_v<Part, OwnSize>) {
        const ResultPlacement image = result_placement(args, n);
        const bool packed = is_same_v<OutLayout, Packed> || (is_same_v<OutLayout, Strided> && args.out.c_stride == 1);
        return {data + image.offset, packed ? 1 : static_cast<long long>(image.height) * image.width,
                packed ? static_cast<long long>(args.channels) * image.width : image.width};
    } else {
        return {data + n * args.out.n_stride + t * args.out.t_stride, args.out.c_stride, args.out.y_stride};
    }
}

// The K channels of a pixel -> as they are stored, after the ops.
template <class Out, class R, int K, class Ops>
inline RawPixel<Out, K> apply_ops(R (&values)[K], const Ops& ops) {
    if constexpr (!Ops::is_empty) ops.template round_and_apply<K>(0, values);
    RawPixel<Out, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = saturate_cast<Out>(values[k]);
    return out;
}

// Writes the fill, to which ops are applied as to pixels, to the pixels outside of the region, in this block's tile of
// the whole result. `image` begins at channel `first`.
template <class In, class OutLayout, int K, class Out, class Ops>
inline void fill_outside(const ResampleRecord& args, long long n, int first, int channels, const BoxRegion& region,
                         const OutputImage<Out>& image, const Ops& ops) {
    if (region.height == args.out_height && region.width == args.out_width) return;
    ComputeType<In> value[K];
    for (int k = 0; k < K; ++k)
        value[k] =
            to_compute<ComputeType<In>>(saturate_cast<In>(fill_value(args.fill, n, min(first + k, args.channels - 1))));
    const RawPixel<Out, K> fill = apply_ops<Out>(value, ops);
    const OutputTile tile = output_tile(args.out_height, args.out_width);
    const int lane = threadIdx.x & 31, x = tile.left + lane,
              x_out = flips_horizontally(args, n) ? args.out_width - 1 - x : x;
    const bool is_column = lane < tile.columns, is_beside = x < region.left || x >= region.left + region.width;
#pragma unroll 1
    for (int y = tile.top + (threadIdx.x >> 5); is_column && y < tile.top + tile.rows; y += resize_warps) {
        if (!is_beside && y >= region.top && y < region.top + region.height) continue;
        const int y_out = flips_vertically(args, n) ? args.out_height - 1 - y : y;
        Out* at = image.data + y_out * image.y_stride +
                  static_cast<long long>(x_out) * column_stride<OutLayout, K>(args.out.x_stride);
        for (int k = 0; k < K; ++k)
            if (k < channels) at[is_same_v<OutLayout, Packed> ? k : k * image.c_stride] = fill.c[k];
    }
}

}  // namespace cuaug
