#include "gpu/batch_slice.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"
#include "records/pointwise.cuh"
#include "ops/blend_sharpness.cuh"

namespace cuaug {

constexpr int sharpness_threads = 256, sharpness_rows = 8;

// Resident blocks, which limit the registers.
template <class In, class InLayout, int K, class OutLayout>
constexpr int sharpness_blocks = K > 3 || sizeof(In) > 4                                                ? 1
                                 : sizeof(In) > 1 || BatchSlice<InLayout, OutLayout, K>::split_channels ? 2
                                                                                                        : 3;

// Four adjacent pixels, and the sum of each with its left and right neighbour.
template <class R, int K>
struct SummedRow {
    Pixel<R, K> pixel[4], sum_1x3[4];
};

// at: the first of the four pixels; x: its column. A missing neighbour is replaced by the pixel itself: pixels at the
// edge of the image do not use the sum.
template <class Layout, int K, class In>
inline SummedRow<ComputeType<In>, K> summed_row(const In* at, const long long* offset, int step, bool aligned, int x,
                                                int width) {
    using R = ComputeType<In>;
    SummedRow<R, K> out;
    const FourPixels<In, K> four = load_pixels<Layout, In, K>(at, offset, step, aligned, min(4, width - x));
    const int right_neighbour = min(4, width - 1 - x);
    RawPixel<In, K> left, right;
    for (int k = 0; k < K; ++k) {
        left.c[k] = at[offset[k] - (x > 0 ? step : 0)];
        right.c[k] = at[offset[k] + static_cast<long long>(right_neighbour) * step];
    }
    for (int j = 0; j < 4; ++j) out.pixel[j] = to_pixel<R>(four.v[j]);
    for (int j = 0; j < 4; ++j)
        out.sum_1x3[j] = (j > 0 ? out.pixel[j - 1] : to_pixel<R>(left)) + out.pixel[j] +
                         (j < 3 ? out.pixel[j + 1] : to_pixel<R>(right));
    return out;
}

// A thread makes four adjacent pixels of K channels in up to `sharpness_rows` rows, one below the other. Grid:
// (blocks for a frame, 1, samples x frames x groups of K channels).
template <class In, class InLayout, int K, class OutLayout>
__global__ void __launch_bounds__(sharpness_threads, (sharpness_blocks<In, InLayout, K, OutLayout>))
    adjust_sharpness(const __grid_constant__ PointwiseRecord args) {
    using R = ComputeType<In>;
    using Slice = BatchSlice<InLayout, OutLayout, K>;
    const int width = args.in_width, height = args.in_height;
    const unsigned int groups_per_row = (width + 3) / 4, index_in_frame = blockIdx.x * sharpness_threads + threadIdx.x,
                       run = index_in_frame / groups_per_row;
    const int x = 4 * (index_in_frame - run * groups_per_row), count = min(4, width - x);
    if (run >= (height + sharpness_rows - 1) / sharpness_rows) return;
    const int top = run * sharpness_rows, bottom = min(top + sharpness_rows, height);
    const int in_step = column_stride<InLayout, K>(args.in.x_stride),
              out_step = column_stride<OutLayout, K>(args.out.x_stride);
    const long long in_row = args.in.y_stride, out_row = args.out.y_stride;

    for (long long index = blockIdx.z; index < Slice::count(args); index += gridDim.z) {
        const Slice slice(args, index);
        long long in_offsets[K], out_offsets[K];
        channel_offsets<InLayout, K>(args.in.c_stride, slice.channels, in_offsets);
        channel_offsets<OutLayout, K>(args.out.c_stride, slice.channels, out_offsets);
        In* out = slice.template output<In>(args) + top * out_row + static_cast<long long>(x) * out_step;
        const R factor = static_cast<R>(parameter(args, slice.n, 0));

        const In* next =
            slice.template input<In>(args) + max(top - 1, 0) * in_row + static_cast<long long>(x) * in_step;
        int next_y = top - 1;
        // Loads row next_y, or the nearest row of the image.
        auto load_next = [&] {
            const SummedRow<R, K> row =
                summed_row<InLayout, K>(next, in_offsets, in_step, args.in_vector_elements, x, width);
            if (next_y >= 0 && next_y < height - 1) next += in_row;
            ++next_y;
            return row;
        };
        const SummedRow<R, K> above = load_next();
        SummedRow<R, K> here = load_next();
        Pixel<R, K> sum_2x3[4];  // of the row above and of this row
        for (int j = 0; j < 4; ++j) sum_2x3[j] = above.sum_1x3[j] + here.sum_1x3[j];
#pragma unroll 1
        for (int y = top; y < bottom; ++y) {
            const SummedRow<R, K> below = load_next();
            FourPixels<In, K> result;
            for (int j = 0; j < 4; ++j) {
                const bool inside = y > 0 && y < height - 1 && x + j > 0 && x + j < width - 1;
                Pixel<R, K> sharpened;
                for (int k = 0; k < K; ++k)
                    sharpened.c[k] = blend_sharpness(inside, here.pixel[j].c[k],
                                                     sum_2x3[j].c[k] + below.sum_1x3[j].c[k], factor, R(max_value<In>));
                if constexpr (is_same_v<In, uint8>)
                    result.v[j] = pack_u8(sharpened);  // blend_sharpness has clamped the values
                else
                    result.v[j] = saturate_pack<In>(sharpened);
                sum_2x3[j] = here.sum_1x3[j] + below.sum_1x3[j];
            }
            store_pixels<OutLayout, In, K>(out, out_offsets, out_step, args.out_vector_elements, count, slice.channels,
                                           result);
            out += out_row;
            here = below;
        }
    }
}

}  // namespace cuaug
