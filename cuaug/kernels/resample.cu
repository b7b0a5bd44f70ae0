#include "border.cuh"
#include "filter.cuh"
#include "gpu/convert.cuh"
#include "gpu/tile.cuh"
#include "resample_record.cuh"

namespace cuaug {

// A block makes a tile of 32x32 pixels of K channels from strips of at most 32 source rows: it stages a strip, filters its rows
// (a lane a column, a warp every 8th row), and adds what the strip gives to each output pixel. Grid: (tiles across, tiles down,
// frames x groups of K).
template <class In, class InLayout, int K, class Filter, class Out, class OutLayout>
__global__ void __launch_bounds__(threads) resample(const __grid_constant__ Resample args) {
    using R = Real<In>;
    constexpr int tile_height = 32, strip_rows = sizeof(R) * K > 16 ? 8 : 32, warps = threads / 32, each = tile_height / warps;
    constexpr bool exchanged = sizeof(Out) < 4;
    constexpr int strip_bytes = 24576, exchange_pitch = 36;
    __shared__ alignas(16) unsigned char strip_memory[strip_bytes];  // a strip, and in the end the result on its way out
    __shared__ Pixel<R, K> filtered[strip_rows][32];
    __shared__ Taps<R> across[32], down[tile_height];
    Stored<In, K>* pixels = reinterpret_cast<Stored<In, K>*>(strip_memory);

    const int left = blockIdx.x * 32, top = blockIdx.y * tile_height, lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
    constexpr bool grouped = Same<InLayout, Strided>::value || Same<OutLayout, Strided>::value;
    const int groups = grouped ? (args.channels + K - 1) / K : 1;

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * groups; slice += gridDim.z) {
        const long long frame = grouped ? slice / groups : slice, n = args.frames == 1 ? frame : frame / args.frames;
        const long long t = frame - n * args.frames;
        const int first = grouped ? static_cast<int>(slice - frame * groups) * K : 0;
        const int columns = min(32, args.out_width - left), rows = min(tile_height, args.out_height - top);
        if (warp_index == 0) {
            const double start = box_side(args, n, 1), extent = box_side(args, n, 3);
            across[lane] = taps_of<Filter, R>(start, extent, args.out_width, left + min(lane, columns - 1), args.antialias);
        } else if (warp_index == 1) {
            const double start = box_side(args, n, 0), extent = box_side(args, n, 2);
            down[lane] = taps_of<Filter, R>(start, extent, args.out_height, top + min(lane, rows - 1), args.antialias);
        }
        __syncthreads();

        Image<In, K, Constant> image;
        image.data = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t;
        channel_offsets<InLayout, K>(args.in.c, first, args.channels, image.offset);
        image.y_stride = static_cast<int>(args.in.y);
        image.x_stride = column_stride<InLayout, K>(args.in.x);
        image.height = args.in_height;
        image.width = args.in_width;
        for (int k = 0; k < K; ++k) image.fill.c[k] = from_real<In>(fill_value(args.fill, n, min(first + k, args.channels - 1)));

        const Taps<R> x = across[lane];
        const int begin = down[0].index(0), end = down[rows - 1].index(down[rows - 1].count - 1) + 1;
        const int step = group<Stored<In, K>>, from = across[0].index(0), x_begin = from - (from & (step - 1));
        const int x_end = across[columns - 1].index(across[columns - 1].count - 1) + 1, width = (x_end - x_begin + step - 1) & ~(step - 1);
        const int pitch = width | 4, room = static_cast<int>(strip_bytes / sizeof(Stored<In, K>)) / pitch;
        const bool staged = room > 0 && width <= threads * step && x.count > 0 && down[0].count > 0;
        const int strip = staged ? min(strip_rows, room) : strip_rows;
        image.base_x = x_begin;

        Pixel<R, K> sum[each] = {};
        for (int y_begin = begin; y_begin < end && x.count > 0; y_begin += strip) {
            const int here = min(strip, end - y_begin);
            image.base_y = y_begin;
            if (staged) stage<InLayout>(image, Box{0, 0, width, here, pitch}, args.in_aligned, pixels);
            __syncthreads();
            for (int y = warp_index; y < here; y += warps) {
                Pixel<R, K> row = {};
                for (int i = 0; i < x.count; ++i) {
                    const int column = x.index(i) - x_begin;
                    const Pixel<R, K> tap = staged ? to_pixel<R>(to_texel(pixels[y * pitch + column])) : image.pixel(column, y);
                    row = row + weight<Filter>(x, i) * tap;
                }
                filtered[y][lane] = row;
            }
            __syncthreads();
            for (int j = 0; j < each; ++j) {
                const Taps<R> taps = down[warp_index + warps * j];
                for (int i = taps.begin_in(y_begin); i < taps.end_in(y_begin + here); ++i)
                    sum[j] = sum[j] + weight<Filter>(taps, i) * filtered[taps.index(i) - y_begin][lane];
            }
        }
        long long offset[K];
        channel_offsets<OutLayout, K>(args.out.c, first, args.channels, offset);
        const int x_stride = column_stride<OutLayout, K>(args.out.x);
        const bool empty = x.count == 0 || down[0].count == 0;
        Out* out = static_cast<Out*>(args.out.data) + n * args.out.n + t * args.out.t + static_cast<long long>(left) * x_stride;
        auto write = [&](int y, int column, const Stored<Out, K>& pixel) {
            if (y < rows && column < columns)
                for (int k = 0; k < K; ++k)
                    out[offset[k] + static_cast<long long>(top + y) * static_cast<int>(args.out.y) + column * x_stride] = to_texel(pixel).c[k];
        };
        FourPixels<Out, K>* exchange = reinterpret_cast<FourPixels<Out, K>*>(strip_memory) + warp_index * each * (exchange_pitch / 4);
        for (int j = 0; j < each; ++j) {
            const Stored<Out, K> pixel = to_stored(empty ? to_texel<Out>(image.fill) : to_texel<Out>(sum[j]));
            if constexpr (exchanged) reinterpret_cast<Stored<Out, K>*>(exchange)[j * exchange_pitch + lane] = pixel;
            else write(warp_index + warps * j, lane, pixel);
        }
        if constexpr (exchanged) {
            __syncwarp();
            const int y = warp_index + warps * (lane >> 3), column = 4 * (lane & 7);
            const FourPixels<Out, K> four = exchange[(lane >> 3) * (exchange_pitch / 4) + (lane & 7)];
            if (!Same<OutLayout, Strided>::value && args.out_aligned && column + 4 <= columns) {
                if (y < rows)
                    store_four<OutLayout, Out, K>(out + static_cast<long long>(top + y) * static_cast<int>(args.out.y) + column * x_stride, offset, four);
            } else {
                for (int i = 0; i < 4; ++i) write(y, column + i, four.v[i]);
            }
        }
        __syncthreads();
    }
}

}  // namespace cuaug
