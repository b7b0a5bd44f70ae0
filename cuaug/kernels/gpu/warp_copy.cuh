#pragma once

#include "gpu/thread_work.cuh"
#include "gpu/warp_config.cuh"
#include "gpu/wide_multiply.cuh"
#include "ops/chain.cuh"

// Regions of samples that a policy leaves in place: no sampling, only a lookup table and ops. About two thirds of the
// ops of RandAugment and TrivialAugment move no pixel.

namespace cuaug {

// Whether a block may copy its region. Only policies have many samples with an identity map.
template <class C>
constexpr bool can_copy =
    C::has_override && is_same_v<typename C::In, uint8> && is_same_v<typename C::Geometry, Affine> && !C::has_mean;

// Writes a region from the pixels at the same positions. A thread writes groups of four adjacent pixels, one below the
// other, and loads the next group before it computes and stores this one.
template <class C>
inline void copy_region(const WarpBlock<C>& block) {
    using In = typename C::In;
    using Out = typename C::Out;
    using R = typename C::R;
    using InLayout = typename C::InLayout;
    using OutLayout = typename C::OutLayout;
    constexpr int K = C::K;
    const auto& args = block.args;
    const auto& region = block.region();
    const auto& block_override = block.block_override();
    const int groups = (region.width + 3) / 4, row_step = C::threads / groups, first_y = threadIdx.x / groups,
              x = 4 * (threadIdx.x - first_y * groups), count = min(4, region.width - x);
    if (first_y >= min(row_step, block_override.identity_rows)) return;
    const int in_step = column_stride<InLayout, K>(args.in.x_stride),
              out_step = column_stride<OutLayout, K>(args.out.x_stride);
    long long in_offsets[K], out_offsets[K];
    channel_offsets<InLayout, K>(args.in.c_stride, region.channels, in_offsets);
    channel_offsets<OutLayout, K>(args.out.c_stride, region.channels, out_offsets);
    const In* in = region.in + mul_wide(region.top + first_y, region.in_y_stride) +
                   static_cast<long long>(region.left + x) * in_step;
    Out* out = region.out + mul_wide(first_y, region.out_y_stride) + static_cast<long long>(x) * out_step;
    const bool vectors = !is_same_v<InLayout, Strided> && args.in_vector_elements && count == 4;
    Vectors<In, K, 1> raw;
    if (vectors) raw = load_vectors<InLayout, In, K>(in, in_offsets);
#pragma unroll 1
    for (int y = first_y; y < block_override.identity_rows;
         y += row_step, out += mul_wide(row_step, region.out_y_stride)) {
        FourPixels<In, K> four = vectors ? elements_to_pixels<InLayout, In, K>(raw.elements[0])
                                         : load_pixels<Strided, In, K>(in, in_offsets, in_step, false, count);
        in += mul_wide(row_step, region.in_y_stride);
        if (vectors && y + row_step < block_override.identity_rows) raw = load_vectors<InLayout, In, K>(in, in_offsets);
        if (block_override.uses_lut)
            for (int j = 0; j < 4; ++j) four.v[j] = block_override.looked_up(four.v[j]);
        if constexpr (C::may_skip_ops)
            if (region.ops_are_identity) {
                store_pixels<OutLayout, Out, K>(out, out_offsets, out_step, args.out_vector_elements, count,
                                                region.channels, four);
                continue;
            }
        Pixel<R, K> pixels[4];
        PixelContext<R> context[4];
        for (int j = 0; j < 4; ++j) {
            context[j] = {region.left + x + j, region.top + y,    args.out_width,      args.out_height,
                          R(max_value<In>),    R(max_value<Out>), region.channel_group};
            pixels[j] = to_unit_range<R>(four.v[j]);
        }
        C::Ops::of(region.params).apply(pixels, context);
        store_unit_range<OutLayout, Out, C::Ops::keeps_unit_range>(out, out_offsets, out_step, args.out_vector_elements,
                                                                   count, region.channels, pixels);
    }
}

}  // namespace cuaug
