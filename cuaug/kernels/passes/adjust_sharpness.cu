#include "gpu/batch_slice.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"
#include "records/pointwise.cuh"
#include "ops/blend_sharpness.cuh"

namespace cuaug {

constexpr int sharpness_threads = 256, sharpness_rows = 8;

// Four adjacent pixels, and the sum of each with its left and right neighbour.
template <class R, int K>
struct SummedRow {
    Pixel<R, K> pixel[4], sum_1x3[4];
};

// A missing neighbour is replaced by the pixel itself: pixels at the edge of the image do not use the sum.
template <class Layout, int K, class In>
inline SummedRow<ComputeType<In>, K> summed_row(const In* row, const long long* offset, int step, bool aligned, int x,
                                                int width) {
    using R = ComputeType<In>;
    SummedRow<R, K> out;
    const FourPixels<In, K> four =
        load_pixels<Layout, In, K>(row + static_cast<long long>(x) * step, offset, step, aligned, min(4, width - x));
    RawPixel<In, K> left, right;
    for (int k = 0; k < K; ++k) {
        left.c[k] = row[offset[k] + static_cast<long long>(max(x - 1, 0)) * step];
        right.c[k] = row[offset[k] + static_cast<long long>(min(x + 4, width - 1)) * step];
    }
    for (int j = 0; j < 4; ++j) out.pixel[j] = to_pixel<R>(four.v[j]);
    for (int j = 0; j < 4; ++j)
        out.sum_1x3[j] = (j > 0 ? out.pixel[j - 1] : to_pixel<R>(left)) + out.pixel[j] +
                         (j < 3 ? out.pixel[j + 1] : to_pixel<R>(right));
    return out;
}

// A thread makes four adjacent pixels of K channels in up to `sharpness_rows` rows, one below the other. Grid: (blocks
// for a frame, 1, frames x groups of K).
template <class In, class InLayout, int K, class OutLayout>
__global__ void __launch_bounds__(sharpness_threads) adjust_sharpness(const __grid_constant__ PointwiseRecord args) {
    using R = ComputeType<In>;
    using Slice = BatchSlice<InLayout, OutLayout, K>;
    const int width = args.in_width, height = args.in_height;
    const unsigned int groups_per_row = (width + 3) / 4, index = blockIdx.x * sharpness_threads + threadIdx.x,
                       run = index / groups_per_row;
    const int x = 4 * (index - run * groups_per_row), count = min(4, width - x);
    if (run >= (height + sharpness_rows - 1) / sharpness_rows) return;
    const int top = run * sharpness_rows, bottom = min(top + sharpness_rows, height);

    for (long long index = blockIdx.z; index < Slice::count(args); index += gridDim.z) {
        const Slice slice(args, index);
        long long in_offsets[K], out_offsets[K];
        channel_offsets<InLayout, K>(args.in.c_stride, slice.channels, in_offsets);
        channel_offsets<OutLayout, K>(args.out.c_stride, slice.channels, out_offsets);
        const int in_step = column_stride<InLayout, K>(args.in.x_stride),
                  out_step = column_stride<OutLayout, K>(args.out.x_stride);
        const In* in = slice.template input<In>(args);
        In* out = slice.template output<In>(args) + static_cast<long long>(x) * out_step;
        const R factor = static_cast<R>(parameter(args, slice.n, 0));

        auto row = [&](int y) {
            return summed_row<InLayout, K>(in + min(max(y, 0), height - 1) * args.in.y_stride, in_offsets, in_step,
                                           args.in_vector_elements, x, width);
        };
        SummedRow<R, K> above = row(top - 1), here = row(top);
        for (int y = top; y < bottom; ++y) {
            const SummedRow<R, K> below = row(y + 1);
            FourPixels<In, K> result;
            for (int j = 0; j < 4; ++j) {
                const bool inside = y > 0 && y < height - 1 && x + j > 0 && x + j < width - 1;
                Pixel<R, K> sharpened;
                for (int k = 0; k < K; ++k)
                    sharpened.c[k] = blend_sharpness(
                        inside, here.pixel[j].c[k],
                        above.sum_1x3[j].c[k] + here.sum_1x3[j].c[k] + below.sum_1x3[j].c[k], factor, R(max_value<In>));
                result.v[j] = saturate_pack<In>(sharpened);
            }
            store_pixels<OutLayout, In, K>(out + y * args.out.y_stride, out_offsets, out_step, args.out_vector_elements,
                                           count, slice.channels, result);
            above = here;
            here = below;
        }
    }
}

}  // namespace cuaug
