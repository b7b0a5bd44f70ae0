#include "detection/roi_by_point.cuh"
#include "detection/roi_gather.cuh"
#include "gpu/reduce.cuh"

namespace cuaug {

constexpr int gather_threads = tile_rows * tile_columns;
// Channels of a thread, whose sums take 32 registers; more would leave too few for the rest.
template <class T>
constexpr int gather_channels = sizeof(ComputeType<T>) == 8 ? 16 : 32;

inline int tiles_x(const RoiLevel& level) { return (level.width + tile_columns - 1) / tile_columns; }
inline int tiles_y(const RoiLevel& level) { return (level.height + tile_rows - 1) / tile_rows; }

// The channel groups of a tile are consecutive, for the cache: they read the gradients of the same bins.
template <class T>
inline MapTile tile_of(const RoiBackwardRecord& args, long long block) {
    const int groups = (args.channels + gather_channels<T> - 1) / gather_channels<T>;
    for (int level = 0;; ++level) {
        const int columns = tiles_x(args.level[level]);
        const long long sample_tiles = static_cast<long long>(columns) * tiles_y(args.level[level]),
                        blocks = sample_tiles * args.samples * groups;
        if (block >= blocks) {
            block -= blocks;
            continue;
        }
        const long long tile = block / groups, in_sample = tile % sample_tiles;
        return {level, static_cast<int>(tile / sample_tiles), static_cast<int>(block % groups),
                static_cast<int>(in_sample / columns) * tile_rows,
                static_cast<int>(in_sample % columns) * tile_columns};
    }
}

// Lists which of 256 regions from `first` on may touch a tile, in their order; returns how many. Called by all threads
// of a block.
inline int list_regions(const RoiBackwardRecord& args, const MapTile& tile, long long first, int* list) {
    bool touches = false;
    if (first + threadIdx.x < args.count) {
        const RegionBounds bounds = args.bounds[first + threadIdx.x];
        touches = bounds.level == tile.level && bounds.n == tile.n && bounds.top < tile.top + tile_rows &&
                  bounds.bottom > tile.top && bounds.left < tile.left + tile_columns && bounds.right > tile.left;
    }
    const BlockRank rank = block_rank<gather_threads / 32>(touches);
    if (touches) list[rank.before] = threadIdx.x;
    __syncthreads();
    return rank.total;
}

// Copies the gradients of `rows` x `columns` bins, `channels` channels from c on. `pooled` begins at channel c. Called
// by all threads of a block.
template <class T, class R, bool is_max, int group>
inline void stage_gradients(const RoiBackwardRecord& args, const T* pooled, long long k, int c, int channels,
                            const BinWindow& window, int rows, int columns,
                            R (&gradient)[window_bins][group + 16 / sizeof(R)],
                            long long (&argmax)[is_max ? window_bins : 1][group]) {
    const bool channels_last = args.pooled.c_stride == 1;
    for (int item = threadIdx.x; item < rows * columns * channels; item += gather_threads) {
        const int bin = channels_last ? item / channels : item % (rows * columns),
                  channel = channels_last ? item % channels : item / (rows * columns);
        const int y = bin / columns, x = bin % columns;
        gradient[y * window_side + x][channel] =
            to_compute<R>(pooled[k * args.pooled.n_stride + channel * args.pooled.c_stride +
                                 (window.y + y) * args.pooled.y_stride + (window.x + x) * args.pooled.x_stride]);
        if constexpr (is_max) {
            long long point[1];
            read_argmax(args,
                        k * args.argmax.n_stride + (c + channel) * args.argmax.c_stride +
                            (window.y + y) * args.argmax.y_stride + (window.x + x) * args.argmax.x_stride,
                        0, point);
            argmax[y * window_side + x][channel] = point[0];
        }
    }
}

// Stores a pixel's sums, as vectors of 16 bytes if channels are adjacent in memory and fill whole vectors.
template <class T, class R, int group>
inline void store_sums(const RoiBackwardRecord& args, const FeatureMap& map, const MapTile& tile, int c, int channels,
                       int row, int column, const R (&sum)[group]) {
    constexpr int W = 16 / sizeof(T);
    T* out = static_cast<T*>(map.data) + tile.n * map.n_stride + c * map.c_stride + (tile.top + row) * map.y_stride +
             (tile.left + column) * map.x_stride;
    const bool vectors = map.c_stride == 1 && args.channels % W == 0;
    for (int j = 0; j < group; j += W) {
        if (vectors && j < channels) {
            ChannelVector<T, W> stored;
            for (int i = 0; i < W; ++i) stored.channel[i] = saturate_cast<T>(sum[j + i]);
            *reinterpret_cast<ChannelVector<T, W>*>(out + j) = stored;
        } else {
            for (int i = 0; i < W; ++i)
                if (j + i < channels) out[(j + i) * map.c_stride] = saturate_cast<T>(sum[j + i]);
        }
    }
}

// A thread has one pixel and some channels, and sums what the regions contribute, in the order of their indices: every
// run gives the same bits, unlike roi_backward_scatter.cu. The gradients of a window of bins are staged for all
// threads. Grid: (tiles of all levels and samples x channel groups).
template <class T, class Gather>
__global__ void __launch_bounds__(gather_threads, sizeof(ComputeType<T>) == 8 ? 1 : 2)
    roi_backward_gather(const __grid_constant__ RoiBackwardRecord args) {
    using R = ComputeType<T>;
    using Bins = typename Gather::Bins;
    constexpr int group = gather_channels<T>;
    __shared__ alignas(16) R gradient[window_bins][group + 16 / sizeof(R)];  // padded: rows begin in different banks
    // The sampling point that each gradient is for.
    __shared__ long long argmax[Gather::is_max ? window_bins : 1][group];
    __shared__ typename Gather::Shared gather;
    __shared__ int list[gather_threads];
    // Two entries: the first thread may load the next region while others still use the current one.
    __shared__ Bins region_bins[2];
    __shared__ IndexRect bin_rects[2];
    const MapTile tile = tile_of<T>(args, blockIdx.x);
    const RoiLevel& level = args.level[tile.level];
    const int row = threadIdx.x / tile_columns, column = threadIdx.x % tile_columns, c = tile.channel_group * group,
              channels = min(group, args.channels - c);
    const bool has_pixel = tile.top + row < level.height && tile.left + column < level.width;
    const T* pooled = static_cast<const T*>(args.pooled.data) + c * args.pooled.c_stride;

    R sum[group] = {};
    for (long long first = 0; first < args.count; first += gather_threads) {
        const int regions = list_regions(args, tile, first, list);
        for (int i = 0; i < regions; ++i) {
            const long long k = first + list[i];
            if (threadIdx.x == 0) {
                Bins loaded = *reinterpret_cast<const Bins*>(args.bins + k);
                loaded.level = &level;
                region_bins[i & 1] = loaded;
                bin_rects[i & 1] = loaded.bins_in(args, rect_of<R>(tile));
            }
            __syncthreads();
            const Bins& bins = region_bins[i & 1];
            const IndexRect rect = bin_rects[i & 1];
            for (BinWindow window = {static_cast<int>(rect.rows.first), 0}; window.y < rect.rows.end;
                 window.y += window_side)
                for (window.x = static_cast<int>(rect.columns.first); window.x < rect.columns.end;
                     window.x += window_side) {
                    const int rows = min(window_side, static_cast<int>(rect.rows.end) - window.y),
                              columns = min(window_side, static_cast<int>(rect.columns.end) - window.x);
                    Gather::clear(gather);
                    __syncthreads();
                    Gather::prepare(bins, tile, window, rows, columns, gather);
                    stage_gradients<T, R, Gather::is_max>(args, pooled, k, c, channels, window, rows, columns, gradient,
                                                          argmax);
                    __syncthreads();
                    if (has_pixel)
                        Gather::for_each_bin(
                            args, bins, tile, window, gather, row, column, [&](int bin, R weight, long long point) {
                                for (int j = 0; j < group; ++j)
                                    if (!Gather::is_max || argmax[Gather::is_max ? bin : 0][j] == point)
                                        sum[j] += weight * gradient[bin][j];
                            });
                    __syncthreads();
                }
        }
    }
    if (has_pixel) store_sums<T>(args, level.gradients, tile, c, channels, row, column, sum);
}

}  // namespace cuaug
