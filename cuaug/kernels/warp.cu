#include "border.cuh"
#include "geometry/affine.cuh"
#include "geometry/grid.cuh"
#include "geometry/perspective.cuh"
#include "gpu/convert.cuh"
#include "gpu/tile.cuh"
#include "record.cuh"
#include "sampler/bilinear.cuh"
#include "sampler/bilinear_bytes.cuh"
#include "sampler/nearest.cuh"
#include "sampler/separable.cuh"

namespace cuaug {

// What the threads of a block share about their tile, worked out once.
template <class In, int K, class Out, class Local>
struct Tile {
    Local local;         // counted from the box's corner, or from the base where there is no box
    Box box;
    const In* in;        // the frame
    Out* out;            // the frame
    Texel<In, K> fill;
};

// A block makes a tile of 32x32 pixels of K channels; a warp 8 rows of it, a thread 4 pixels 8 columns apart in each of 2. Narrow
// elements are then exchanged within the warp, so that a thread stores 4 adjacent ones. Grid: (tiles across, tiles down, frames x groups of K).
template <class In, class InLayout, int K, class Geometry, class Sampler, class Border, class Out, class OutLayout>
__global__ void __launch_bounds__(threads) warp(const __grid_constant__ Warp<Geometry> args) {
    using R = Real<In>;
    using Local = typename Geometry::template Local<R>;
    constexpr bool staged = Geometry::bounded, exchanged = sizeof(Out) < 4;
    constexpr int exchange_pitch = 40;  // 4 rows of 8 pixels, 40 apart, fall into different banks
    __shared__ alignas(16) unsigned char box_memory[staged ? box_bytes<In, K> : 16];
    __shared__ FourPixels<Out, K> exchange[exchanged ? threads / 32 : 1][exchanged ? exchange_pitch : 1];
    __shared__ Tile<In, K, Out, Local> tile;

    const int left = blockIdx.x * tile_width, top = blockIdx.y * tile_height;
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, column = lane & 7, row = lane >> 3;
    Stored<In, K>* pixels = reinterpret_cast<Stored<In, K>*>(box_memory);
    const int groups = Same<InLayout, Strided>::value || Same<OutLayout, Strided>::value ? (args.channels + K - 1) / K : 1;

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * groups; slice += gridDim.z) {
        const long long frame = groups == 1 ? slice : slice / groups;
        const int first = groups == 1 ? 0 : static_cast<int>(slice - frame * groups) * K;
        if (threadIdx.x == 0) {
            const long long n = args.frames == 1 ? frame : frame / args.frames;
            Local local = Geometry::template local<R>(args.geometry.sample(n), left, top);
            Box box = {};
            Bounds<R> bounds;
            if (staged && local.bounds(tile_width, tile_height, bounds))
                box = box_of(bounds, local.base_x, Sampler::before, Sampler::after, sizeof(Stored<In, K>), box_bytes<In, K>);
            tile.box = box;
            tile.local = box.width > 0 ? local.from(box.x, box.y) : local;
        }
        if (threadIdx.x == 32) {
            const long long n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
            tile.in = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t;
            tile.out = static_cast<Out*>(args.out.data) + n * args.out.n + t * args.out.t;
            for (int k = 0; k < K; ++k)
                tile.fill.c[k] = from_real<In>(static_cast<R>(fill_value(args.fill, n, min(first + k, args.channels - 1))));
        }
        __syncthreads();

        Image<In, K, Border> image;
        image.data = tile.in;
        channel_offsets<InLayout, K>(args.in.c, first, args.channels, image.offset);
        image.y_stride = static_cast<int>(args.in.y);
        image.x_stride = column_stride<InLayout, K>(args.in.x);
        image.height = args.in_height;
        image.width = args.in_width;
        image.base_x = tile.local.base_x;
        image.base_y = tile.local.base_y;
        image.fill = tile.fill;
        const Box box = tile.box;
        if (box.width > 0) {
            stage<InLayout>(image, box, args.in_aligned, pixels);
            __syncthreads();
        }

        long long offset[K];
        channel_offsets<OutLayout, K>(args.out.c, first, args.channels, offset);
        const int x_stride = column_stride<OutLayout, K>(args.out.x);
        const Local local = tile.local;
        Stored<Out, K>* mine = reinterpret_cast<Stored<Out, K>*>(exchange[exchanged ? warp_index : 0]) + row * exchange_pitch + column;

        for (int half = 0; half < 2; ++half) {
            const int dy = 8 * warp_index + 4 * half + row;
            Out* out = tile.out + static_cast<long long>(top + dy) * static_cast<int>(args.out.y);
            auto write = [&](int x, const Stored<Out, K>& pixel) {
                if (top + dy < args.out_height && x < args.out_width)
                    for (int k = 0; k < K; ++k) out[offset[k] + static_cast<long long>(x) * x_stride] = to_texel(pixel).c[k];
            };
            auto make = [&](auto sample) {
                for (int i = 0; i < 4; ++i) {
                    const Stored<Out, K> pixel = sample(local.at(static_cast<R>(column) + R(8 * i), static_cast<R>(dy)));
                    if constexpr (exchanged) mine[8 * i] = pixel;
                    else write(left + 8 * i + column, pixel);
                }
            };
            if (box.width > 0) {
                make([&](const Point<R>& p) {
                    if constexpr (Same<In, uint8>::value && Same<Out, uint8>::value && Same<Sampler, Bilinear>::value)
                        return bilinear(pixels, box.pitch, p);
                    else
                        return to_stored(to_texel<Out>(Sampler::sample(Staged<In, K>{pixels, box.pitch}, p)));
                });
            } else {
                make([&](const Point<R>& p) {
                    return to_stored(in_range(p) ? to_texel<Out>(Sampler::sample(image, p)) : to_texel<Out>(image.fill));
                });
            }
            if constexpr (exchanged) {
                __syncwarp();
                const FourPixels<Out, K> four = exchange[warp_index][row * (exchange_pitch / 4) + column];
                const int x = left + 4 * column;
                if (!Same<OutLayout, Strided>::value && args.out_aligned && x + 3 < args.out_width) {
                    if (top + dy < args.out_height) store_four<OutLayout, Out, K>(out + x * x_stride, offset, four);
                } else {
                    for (int i = 0; i < 4; ++i) write(x + i, four.v[i]);
                }
                __syncwarp();
            }
        }
        __syncthreads();
    }
}

}  // namespace cuaug
