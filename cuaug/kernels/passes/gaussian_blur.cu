#include "gpu/batch_slice.cuh"
#include "gpu/channel_ops.cuh"
#include "gpu/gaussian_filter.cuh"
#include "gpu/convert.cuh"

namespace cuaug {

// The tile of a block.
struct BlurTileRect {
    int left, top;  // pixels
    int image_width;
    int columns, rows;     // of the tile inside the image
    int reach_x, reach_y;  // pixels from the Gaussian's centre to its last weight that is not left out
    int halo;              // pixels before the tile that are filtered vertically too: a multiple of four
};

// Fills the columns beyond the edges of the image from their mirror images, which are filtered vertically already.
template <int C, class R>
inline void mirror_columns(const BlurTile<R, C>& tile, const BlurTileRect& rect) {
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
    const int before = max(0, rect.halo - rect.left),
              after = max(0, rect.left + rect.columns + rect.reach_x - rect.image_width);
    R* at = tile.filtered + C * (tile.center - rect.left);
    for (int i = lane; i < C * (before + after); i += 32) {
        const int pixel = i / C, x = pixel < before ? pixel - before : rect.image_width + pixel - before,
                  k = i - C * pixel;
        const int from = C * reflect_near(x, rect.image_width) + k, to = C * x + k;
        for (int row = warp_index; row < rect.rows; row += blur_warps)
            at[row * tile.pitch + to] = at[row * tile.pitch + from];
    }
}

// Filters vertically: the tile, and the columns on either side that the horizontal filter reads. Elements are counted
// along a row: `C` adjacent ones are a pixel.
template <class Layout, int C, class In, class R>
inline void filter_columns(const BlurTile<R, C>& tile, const BlurTileRect& rect, const GaussianBlurRecord& args,
                           const In* in) {
    constexpr int rows = blur_rows<R>;
    const int elements = C * rect.image_width, from = C * max(0, rect.left - rect.halo),
              end = min(elements, C * (rect.left + args.tile_width + rect.reach_x));
    const int column_groups = (end - from + 3) / 4, row_groups = (rect.rows + rows - 1) / rows;
    const int x_stride = C > 1 || is_same_v<Layout, Planar> ? 1 : column_stride<Layout, C>(args.in.x_stride);
    const float inv_column_groups = __fdividef(1.0f, static_cast<float>(column_groups));
    const long long none[1] = {};
    const R* weight = tile.weights_y + args.kernel_height / 2 - rect.reach_y;
    for (int i = threadIdx.x; i < column_groups * row_groups; i += blur_threads) {
        const int row_group = static_cast<int>((i + 0.5f) * inv_column_groups),
                  element = from + 4 * (i - row_group * column_groups);
        const In* column = in + static_cast<long long>(element) * x_stride;
        auto filter_group = [&](auto count, int y, auto read) {
            const long long* row = tile.row_offset + args.kernel_height / 2 - rect.reach_y + y;
            Vector4<R> sum[decltype(count)::value] = {};
            filter_vertically<In>([&](int j) { return read(column + row[j]); }, weight, 2 * rect.reach_y + 1, sum);
            R* to = tile.filtered + y * tile.pitch + element + C * (tile.center - rect.left);
            for (int j = 0; j < decltype(count)::value; ++j)
                *reinterpret_cast<Vector4<R>*>(to + j * tile.pitch) = sum[j];
        };
        if (!is_same_v<Layout, Strided> && args.in_vector_elements && element + 4 <= elements) {
            filter_group(Int<rows>(), row_group * rows, [&](const In* at) {
                const FourElements<In> raw = load_vectors<Planar, In, 1>(at, none).elements[0][0];
                WordPixel<In, 4> out;
                memcpy(&out, &raw, sizeof(out));
                return out;
            });
        } else {  // as few rows at a time as `filter_vertically` takes: there are more addresses to hold
            using Offset = conditional_t<is_same_v<Layout, Strided>, long long, int>;
            Offset next_columns[4];
            for (int j = 0; j < 4; ++j)
                next_columns[j] = static_cast<Offset>(min(j, elements - 1 - element)) * x_stride;
#pragma unroll 1
            for (int y = row_group * rows; y < (row_group + 1) * rows; y += blur_rows_ahead)
                filter_group(Int<blur_rows_ahead>(), y, [&](const In* at) {
                    return to_word_pixel(
                        RawPixel<In, 4>{{at[0], at[next_columns[1]], at[next_columns[2]], at[next_columns[3]]}});
                });
        }
    }
}

// Stores `VectorsAtOnce` vectors of four elements at a time.
template <int VectorsAtOnce, class T, int Count>
inline void store_vectors(T* at, const FourElements<T> (&four)[Count]) {
    for (int v = 0; v < Count; v += VectorsAtOnce) {
        AlignedVector<T, VectorsAtOnce> group, *to = reinterpret_cast<AlignedVector<T, VectorsAtOnce>*>(at + 4 * v);
        for (int i = 0; i < VectorsAtOnce; ++i) group.elements[i] = four[v + i];
        __builtin_assume(__isGlobal(to));
        *to = group;
    }
}

// Stores the first `count` pixels of a run.
template <class Layout, int C, class T, class R>
inline void store_run(T* at, long long c_stride, int step, int vector_elements, int count,
                      const R (&value)[C * blur_run]) {
    constexpr bool packed = is_same_v<Layout, Packed>;
    constexpr int planes = packed ? 1 : C, length = C * blur_run / planes;
    if (!is_same_v<Layout, Strided> && vector_elements && count >= blur_run) {
        for (int k = 0; k < planes; ++k) {
            FourElements<T> four[length / 4];
            for (int v = 0; v < length / 4; ++v) {
                Pixel<R, 4> four_values;
                for (int j = 0; j < 4; ++j) four_values.c[j] = value[packed ? 4 * v + j : C * (4 * v + j) + k];
                const WordPixel<T, 4> stored = cuaug::saturate_pack<T>(four_values);
                memcpy(&four[v], &stored, sizeof(stored));
            }
            constexpr int vectors_at_once = sizeof(FourElements<T>) <= 8 ? 2 : 1;
            if (vector_elements >= 4 * vectors_at_once)
                store_vectors<vectors_at_once>(at + k * c_stride, four);
            else
                store_vectors<1>(at + k * c_stride, four);
        }
    } else {
        for (int i = 0; i < blur_run; ++i)
            for (int k = 0; k < C; ++k)
                if (i < count) at[k * c_stride + static_cast<long long>(i) * step] = saturate_cast<T>(value[C * i + k]);
    }
}

// Filters the tile's rows horizontally. A lane takes a run of adjacent pixels, eight lanes a cell: `runs_per_cell` runs
// in each of `rows_per_cell` rows, as many rows as avoid bank conflicts.
template <class Layout, int C, class In, class Out, class Ops, class R>
inline void filter_rows(const BlurTile<R, C>& tile, const BlurTileRect& rect, const GaussianBlurRecord& args,
                        const Ops& ops, int channel, Out* out, int step) {
    constexpr bool finite =
        is_same_v<In, uint8> || is_same_v<In, uint16> || is_same_v<In, int16>;  // a weight of 0 hides any value
    constexpr int vectors = C * blur_run * sizeof(R) / 16,
                  rows_per_cell = vectors % 8 == 0   ? 8
                                  : vectors % 4 == 0 ? 4
                                  : vectors % 2 == 0 ? 2
                                                     : 1,
                  runs_per_cell = 8 / rows_per_cell;
    const int runs = (rect.columns + blur_run - 1) / blur_run, cells = (runs + runs_per_cell - 1) / runs_per_cell,
              cell_lanes = cells * ((rect.rows + rows_per_cell - 1) / rows_per_cell) * 8;
    const float inv_cells = __fdividef(1.0f, static_cast<float>(cells));
    for (int i = threadIdx.x; i < cell_lanes; i += blur_threads) {
        const int cell = i >> 3, cell_y = static_cast<int>((cell + 0.5f) * inv_cells), lane_in_cell = i & 7;
        const int x = ((cell - cell_y * cells) * runs_per_cell + lane_in_cell % runs_per_cell) * blur_run,
                  y = cell_y * rows_per_cell + lane_in_cell / runs_per_cell;
        if (x >= rect.columns || y >= rect.rows) continue;
        R sum[C * blur_run] = {};
        filter_horizontally<finite, C>(tile.filtered + y * tile.pitch + C * (tile.center - rect.halo + x),
                                       tile.weights_x + tile.center - rect.halo, rect.halo - rect.reach_x,
                                       rect.halo + rect.reach_x + 1, sum);
        if constexpr (!Ops::is_empty) ops.template round_and_apply<C>(channel, sum);
        Out* to = out + (rect.top + y) * args.out.y_stride + static_cast<long long>(rect.left + x) * step;
        store_run<Layout, C>(to, args.out.c_stride, step, args.out_vector_elements, rect.columns - x, sum);
    }
}

// A block makes a tile, all channels together if they are packed and not float64, else one after the other. It filters
// columns vertically from global into shared memory, and rows horizontally from there. Grid: (tiles in x, tiles in y,
// samples x frames x groups of K channels).
template <class In, class InLayout, int K, class Chain, class Out, class OutLayout>
__global__ void __launch_bounds__(blur_threads, blur_blocks<In>)
    gaussian_blur(const __grid_constant__ GaussianBlurRecord args) {
    using R = ComputeType<In>;
    constexpr int C = channels_together<InLayout, In, K>;
    // One channel of packed pixels is strided.
    using InChannelLayout = conditional_t<is_same_v<InLayout, Packed> && C == 1, Strided, InLayout>;
    using OutChannelLayout = conditional_t<is_same_v<OutLayout, Packed> && C == 1, Strided, OutLayout>;
    using Slice = BatchSlice<InLayout, OutLayout, K>;
    extern __shared__ __align__(16) char memory[];
    __shared__ int reach[2];
    __shared__ ChannelOps<Chain, In, Out, K> ops;

    const BlurTile<R, C> tile(memory, args);
    const int left = blockIdx.x * args.tile_width, top = blockIdx.y * args.tile_height;
    const int columns = min(args.tile_width, args.in_width - left), rows = min(args.tile_height, args.in_height - top);
    const int radius_x = args.kernel_width / 2, radius_y = args.kernel_height / 2, lane = threadIdx.x & 31,
              warp_index = threadIdx.x >> 5;
    for (int i = threadIdx.x; i < tile.row_offsets(args); i += blur_threads)
        tile.row_offset[i] = reflect_near(top - radius_y + i, args.in_height) * args.in.y_stride;

    for (long long index = blockIdx.z; index < Slice::count(args); index += gridDim.z) {
        const Slice slice(args, index);
        const int channels = Slice::split_channels ? min(K, slice.channels) : K;
        const In* in = slice.template input<In>(args);
        Out* out = slice.template output<Out>(args);
        if (warp_index == 0)
            reach[0] = compute_gaussian<In>(tile.weights_x, tile.center, radius_x, sigma_of(args, slice.n, 0), lane);
        if (warp_index == 1)
            reach[1] = compute_gaussian<In>(tile.weights_y, radius_y, radius_y, sigma_of(args, slice.n, 1), lane);
        if (warp_index == 2) ops.read(args.op_parameters, args.channels, slice.n, slice.first, lane);
        __syncthreads();
        const BlurTileRect rect = {left, top, args.in_width, columns, rows, reach[0], reach[1], round_up4(reach[0])};

#pragma unroll 1
        for (int k = 0; k < channels; k += C) {
            filter_columns<InChannelLayout>(tile, rect, args, in + k * args.in.c_stride);
            __syncthreads();
            mirror_columns(tile, rect);
            __syncthreads();
            filter_rows<OutChannelLayout, C, In>(tile, rect, args, ops, k, out + k * args.out.c_stride,
                                                 column_stride<OutLayout, K>(args.out.x_stride));
            __syncthreads();
        }
    }
}

}  // namespace cuaug
