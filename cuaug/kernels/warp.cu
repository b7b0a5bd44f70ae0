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

// The sampler's view of staged pixels; bytes have an interpolation of their own.
template <class Sampler, class Out, class In, int K>
inline Stored<Out, K> sample_staged(const Stored<In, K>* pixels, int pitch, const Point<Real<In>>& p) {
    if constexpr (Same<In, uint8>::value && Same<Out, uint8>::value && Same<Sampler, Bilinear>::value)
        return bilinear(pixels, pitch, p);
    else
        return to_stored(to_texel<Out>(Sampler::sample(Staged<In, K>{pixels, pitch}, p)));
}

// A block makes a tile of 32 x tile_rows pixels of K channels: a warp 4 rows of it at a time, a thread 4 pixels 8 columns apart, so
// that a warp samples patches of 8x4. Narrow elements are then exchanged within the warp, so that a thread stores 4 adjacent ones.
// Grid: (tiles across, tiles down, frames x groups of K).
template <class In, class InLayout, int K, class Geometry, class Sampler, class Border, class Out, class OutLayout>
__global__ void __launch_bounds__(threads) warp(const __grid_constant__ Warp<Geometry> args) {
    using R = Real<In>;
    using Local = typename Geometry::template Local<R>;
    constexpr bool exchanged = sizeof(Out) < 4;
    constexpr int exchange_pitch = 40;  // 4 rows of 8 pixels, 40 apart, fall into different banks
    __shared__ alignas(16) unsigned char box_memory[Geometry::bounded ? box_bytes<Stored<In, K>> : 16];
    __shared__ FourPixels<Out, K> exchange[exchanged ? threads / 32 : 1][exchanged ? exchange_pitch : 1];
    __shared__ Tile<In, K, Out, Local> tile;

    const int left = blockIdx.x * tile_width, top = blockIdx.y * args.tile_rows;
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, column = lane & 7, row = lane >> 3;
    Stored<In, K>* pixels = reinterpret_cast<Stored<In, K>*>(box_memory);
    FourPixels<Out, K>* exchange_row = exchange[exchanged ? warp_index : 0] + row * (exchange_pitch / 4);
    constexpr bool grouped = Same<InLayout, Strided>::value || Same<OutLayout, Strided>::value;
    const int groups = grouped ? (args.channels + K - 1) / K : 1;

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * groups; slice += gridDim.z) {
        const long long frame = grouped ? slice / groups : slice, n = args.frames == 1 ? frame : frame / args.frames;
        const int first = grouped ? static_cast<int>(slice - frame * groups) * K : 0;
        if (threadIdx.x == 0) {
            Local local = Geometry::template local<R>(args.geometry.sample(n), left, top);
            Box box = {};
            Bounds<R> bounds;
            if (Geometry::bounded && local.bounds(tile_width, args.tile_rows, bounds))
                box = box_of<Stored<In, K>>(bounds, local.base_x, Sampler::before, Sampler::after);
            tile.box = box;
            tile.local = box.width > 0 ? local.from(box.x, box.y) : local;
        } else if (threadIdx.x == 32) {
            const long long t = frame - n * args.frames;
            tile.in = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t;
            tile.out = static_cast<Out*>(args.out.data) + n * args.out.n + t * args.out.t;
        } else if (threadIdx.x >= 64 && threadIdx.x < 64 + K) {
            const int k = threadIdx.x - 64;
            tile.fill.c[k] = from_real<In>(fill_value(args.fill, n, min(first + k, args.channels - 1)));
        }
        __syncthreads();

        const Box box = tile.box;
        const Local local = tile.local;
        Image<In, K, Border> image;
        image.data = tile.in;
        channel_offsets<InLayout, K>(args.in.c, first, args.channels, image.offset);
        image.y_stride = static_cast<int>(args.in.y);
        image.x_stride = column_stride<InLayout, K>(args.in.x);
        image.height = args.in_height;
        image.width = args.in_width;
        image.base_x = local.base_x;
        image.base_y = local.base_y;
        image.fill = tile.fill;

        long long offset[K];
        channel_offsets<OutLayout, K>(args.out.c, first, args.channels, offset);
        const int x_stride = column_stride<OutLayout, K>(args.out.x), width = args.out_width - left;
        const int height = min(args.tile_rows, args.out_height - top);
        auto make = [&](auto sample) {
            for (int dy = 4 * warp_index + row; dy < ((height + 3) & ~3); dy += threads / 8) {
                Out* out = tile.out + static_cast<long long>(top + dy) * static_cast<int>(args.out.y) + static_cast<long long>(left) * x_stride;
                auto write = [&](int x, const Stored<Out, K>& pixel) {
                    if (dy < height && x < width)
                        for (int k = 0; k < K; ++k) out[offset[k] + x * x_stride] = to_texel(pixel).c[k];
                };
                for (int i = 0; i < 4; ++i) {
                    const Stored<Out, K> pixel = sample(local.at(static_cast<R>(column) + R(8 * i), static_cast<R>(dy)));
                    if constexpr (exchanged) reinterpret_cast<Stored<Out, K>*>(exchange_row)[8 * i + column] = pixel;
                    else write(8 * i + column, pixel);
                }
                if constexpr (exchanged) {
                    __syncwarp();
                    const FourPixels<Out, K> four = exchange_row[column];
                    __syncwarp();
                    if (!Same<OutLayout, Strided>::value && args.out_aligned && 4 * column + 3 < width) {
                        if (dy < height) store_four<OutLayout, Out, K>(out + 4 * column * x_stride, offset, four);
                    } else {
                        for (int i = 0; i < 4; ++i) write(4 * column + i, four.v[i]);
                    }
                }
            }
        };
        if (Geometry::bounded && box.width > 0) {
            stage<InLayout>(image, box, args.in_aligned, pixels);
            __syncthreads();
            make([&](const Point<R>& p) { return sample_staged<Sampler, Out>(pixels, box.pitch, p); });
        } else {
            make([&](const Point<R>& p) {
                return to_stored(in_range(p) ? to_texel<Out>(Sampler::sample(image, p)) : to_texel<Out>(image.fill));
            });
        }
        __syncthreads();
    }
}

}  // namespace cuaug
