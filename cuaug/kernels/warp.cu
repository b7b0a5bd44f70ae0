#include "border.cuh"
#include "geometry/affine.cuh"
#include "geometry/grid.cuh"
#include "geometry/perspective.cuh"
#include "gpu/convert.cuh"
#include "gpu/tile.cuh"
#include "record.cuh"
#include "sampler/bilinear.cuh"
#include "sampler/nearest.cuh"
#include "sampler/separable.cuh"

namespace cuaug {

// The channels c .. c + K - 1, the last one standing in for those beyond C.
template <int K>
inline void channel_offsets(long long stride, int c, int channels, long long* offset) {
    for (int k = 0; k < K; ++k) offset[k] = (c + k < channels ? c + k : channels - 1) * stride;
}

// A block makes a tile of 32x32 pixels, K channels at a time; a warp 4 rows of it, a thread 4 pixels 8 columns apart. Narrow
// elements are then exchanged within the warp, so that a thread stores 4 adjacent ones. Grid: (tiles across, tiles down, frames).
template <class In, class InLayout, int K, class Geometry, class Sampler, class Border, class Out, class OutLayout>
__global__ void __launch_bounds__(threads) warp(const __grid_constant__ Warp<Geometry> args) {
    using R = Real<In>;
    using Local = typename Geometry::template Local<R>;
    constexpr bool staged = Geometry::bounded, exchanged = sizeof(Out) < 4;
    constexpr int exchange_pitch = 40;  // 4 rows of 8 pixels, 40 apart, fall into different banks
    __shared__ alignas(16) unsigned char box_memory[staged ? box_bytes : 16];
    __shared__ alignas(16) Stored<Out, K> exchange[exchanged ? threads / 32 : 1][exchanged ? 4 * exchange_pitch : 1];
    __shared__ Local shared_local;
    __shared__ Box shared_box;

    const int left = blockIdx.x * tile_width, top = blockIdx.y * tile_height;
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
    const int column = lane & 7, row = lane >> 3, dy = 4 * warp_index + row;
    Stored<In, K>* pixels = reinterpret_cast<Stored<In, K>*>(box_memory);

    for (long long frame = blockIdx.z; frame < args.samples * args.frames; frame += gridDim.z) {
        const long long n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        if (threadIdx.x == 0) {
            shared_local = Geometry::template local<R>(args.geometry.sample(n), left, top);
            shared_box = {};
            Bounds<R> bounds;
            const int width = min(tile_width, args.out_width - left), height = min(tile_height, args.out_height - top);
            if (staged && shared_local.bounds(width, height, bounds))
                shared_box = box_of(bounds, shared_local.base_x, Sampler::before, Sampler::after, sizeof(Stored<In, K>));
        }
        __syncthreads();
        const Local local = shared_local;
        const Box box = shared_box;

        for (int c = 0; c < args.channels; c += K) {
            Image<In, K, Border> image;
            image.data = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t;
            channel_offsets<K>(args.in.c, c, args.channels, image.offset);
            image.y_stride = args.in.y;
            image.x_stride = Same<InLayout, Planar>::value ? 1 : Same<InLayout, Packed>::value ? K : args.in.x;
            image.height = args.in_height;
            image.width = args.in_width;
            image.base_x = local.base_x;
            image.base_y = local.base_y;
            for (int k = 0; k < K; ++k)
                image.fill.c[k] = from_real<In>(static_cast<R>(fill_value(args.fill, n, min(c + k, args.channels - 1))));

            if (box.width > 0) {
                stage<InLayout>(image, box, args.in_aligned, pixels);
                __syncthreads();
            }
            long long offset[K];
            channel_offsets<K>(args.out.c, c, args.channels, offset);
            const long long x_stride = Same<OutLayout, Planar>::value ? 1 : Same<OutLayout, Packed>::value ? K : args.out.x;
            Out* out = static_cast<Out*>(args.out.data) + n * args.out.n + t * args.out.t + (top + dy) * args.out.y;
            for (int i = 0; i < 4; ++i) {
                const int dx = 8 * i + column;
                if (left + dx >= args.out_width || top + dy >= args.out_height) continue;
                Point<R> p = local.at(dx, dy);
                Stored<Out, K> result;
                if (box.width == 0) {
                    result = to_stored(in_range(p) ? to_texel<Out>(Sampler::sample(image, p)) : to_texel<Out>(image.fill));
                } else {
                    p.x -= static_cast<R>(box.x);
                    p.y -= static_cast<R>(box.y);
                    if constexpr (Same<In, uint8>::value && Same<Out, uint8>::value && Same<Sampler, Bilinear>::value)
                        reinterpret_cast<Word&>(result) = bilinear(reinterpret_cast<const Word*>(pixels), box.pitch, p);
                    else
                        result = to_stored(to_texel<Out>(Sampler::sample(Staged<In, K>{pixels, box.pitch}, p)));
                }
                if constexpr (exchanged) exchange[warp_index][row * exchange_pitch + dx] = result;
                else
                    for (int k = 0; k < K; ++k) out[offset[k] + (left + dx) * x_stride] = result.c[k];
            }
            if constexpr (exchanged) {
                __syncwarp();
                const int x = left + 4 * column;
                if (x < args.out_width && top + dy < args.out_height) {
                    Stored<Out, K> four[4];
                    for (int i = 0; i < 4; ++i) four[i] = exchange[warp_index][row * exchange_pitch + 4 * column + i];
                    store_four<OutLayout>(out + x * x_stride, offset, x_stride, args.out_width - x, args.out_aligned, four);
                }
            }
            __syncthreads();
        }
    }
}

}  // namespace cuaug
