#include "detection/roi_gather.cuh"
#include "detection/roi_by_sample.cuh"

namespace cuaug {

constexpr int back_threads = tile_rows * tile_columns, back_warps = back_threads / 32;
// A thread's channels: as many sums as leave registers for the rest.
template <class T>
constexpr int back_channels = sizeof(ComputeType<T>) == 8 ? 16 : 32;

inline int tiles_across(const PoolingLevel& level) { return (level.width + tile_columns - 1) / tile_columns; }
inline int tiles_down(const PoolingLevel& level) { return (level.height + tile_rows - 1) / tile_rows; }

// Tiles of one place follow each other, for the sake of the cache: gradients of a bin are read by the groups of its
// channels.
template <class T>
inline Tile tile_of(const PoolingBack& args, long long block) {
    const int groups = (args.channels + back_channels<T> - 1) / back_channels<T>;
    for (int level = 0;; ++level) {
        const int across = tiles_across(args.level[level]);
        const long long each = static_cast<long long>(across) * tiles_down(args.level[level]),
                        count = each * args.samples * groups;
        if (block >= count) {
            block -= count;
            continue;
        }
        const long long place = block / groups, in_sample = place % each;
        return {level, static_cast<int>(place / each), static_cast<int>(block % groups),
                static_cast<int>(in_sample / across) * tile_rows, static_cast<int>(in_sample % across) * tile_columns};
    }
}

// Which of the regions from `first` on, one to a thread, may touch a tile, in their order. All threads of a block.
inline int regions_of(const PoolingBack& args, const Tile& tile, long long first, int* list, int* counts) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    bool near = false;
    if (first + threadIdx.x < args.count) {
        const RegionBounds own = args.bounds[first + threadIdx.x];
        near = own.level == tile.level && own.n == tile.n && own.top < tile.top + tile_rows && own.bottom > tile.top &&
               own.left < tile.left + tile_columns && own.right > tile.left;
    }
    const unsigned int word = __ballot_sync(0xffffffffu, near);
    __syncthreads();
    if (lane == 0) counts[warp] = __popc(word);
    __syncthreads();
    int total = 0, before = 0;
    for (int w = 0; w < back_warps; ++w) {
        if (w < warp) before += counts[w];
        total += counts[w];
    }
    if (near) list[before + __popc(word & ((1u << lane) - 1))] = threadIdx.x;
    __syncthreads();
    return total;
}

// A thread has a pixel and some channels to itself, and sums up what the regions send there in the order of the call:
// every run gives the same, which detection/roi_backward_scatter.cu cannot promise. Gradients of a window of bins are
// staged for all threads. Grid: (tiles x channel groups).
template <class T, class Touch>
__global__ void __launch_bounds__(back_threads, sizeof(ComputeType<T>) == 8 ? 1 : 2)
    roi_backward_gather(const __grid_constant__ PoolingBack args) {
    using R = ComputeType<T>;
    using Shape = typename Touch::Shape;
    constexpr int group = back_channels<T>, pitch = group + 16 / sizeof(R);  // rows of a window in different banks
    __shared__ alignas(16) R gradient[window_bins][pitch];
    __shared__ long long chosen[Touch::greatest ? window_bins : 1][group];
    __shared__ typename Touch::Shared touch;
    __shared__ int list[back_threads], counts[back_warps];
    __shared__ Shape
        shapes[2];  // of a region, and of the next, which the first thread may fetch while others look at this one
    __shared__ Spans spans[2];
    const Tile tile = tile_of<T>(args, blockIdx.x);
    const PoolingLevel& level = args.level[tile.level];
    const int row = threadIdx.x / tile_columns, column = threadIdx.x % tile_columns, c = tile.group * group,
              channels = min(group, args.channels - c);
    const bool mine = tile.top + row < level.height && tile.left + column < level.width;
    const T* pooled = static_cast<const T*>(args.pooled.data) + c * args.pooled.c;

    R sum[group] = {};
    for (long long first = 0; first < args.count; first += back_threads) {
        const int found = regions_of(args, tile, first, list, counts);
        for (int i = 0; i < found; ++i) {
            const long long k = first + list[i];
            if (threadIdx.x == 0) {
                Shape own = *reinterpret_cast<const Shape*>(args.shapes + k);
                own.level = &level;
                shapes[i & 1] = own;
                spans[i & 1] = own.bins_in(args, extent_of<R>(tile));
            }
            __syncthreads();
            const Shape& shape = shapes[i & 1];
            const Spans bins = spans[i & 1];
            for (Window window = {static_cast<int>(bins.rows.first), 0}; window.y < bins.rows.last;
                 window.y += window_side)
                for (window.x = static_cast<int>(bins.columns.first); window.x < bins.columns.last;
                     window.x += window_side) {
                    const int high = min(window_side, static_cast<int>(bins.rows.last) - window.y),
                              wide = min(window_side, static_cast<int>(bins.columns.last) - window.x);
                    Touch::clear(touch);
                    __syncthreads();
                    Touch::prepare(args, shape, tile, window, touch);
                    const bool inside = args.pooled.c == 1;
                    for (int item = threadIdx.x; item < high * wide * channels; item += back_threads) {
                        const int bin = inside ? item / channels : item % (high * wide),
                                  channel = inside ? item % channels : item / (high * wide);
                        const int y = bin / wide, x = bin % wide;
                        gradient[y * window_side + x][channel] =
                            to_compute<R>(pooled[k * args.pooled.n + channel * args.pooled.c +
                                                 (window.y + y) * args.pooled.y + (window.x + x) * args.pooled.x]);
                        if constexpr (Touch::greatest) {
                            long long number[1];
                            read_places(args,
                                        k * args.places.n + (c + channel) * args.places.c +
                                            (window.y + y) * args.places.y + (window.x + x) * args.places.x,
                                        0, number);
                            chosen[y * window_side + x][channel] = number[0];
                        }
                    }
                    __syncthreads();
                    if (mine)
                        Touch::each(args, shape, tile, window, touch, row, column,
                                    [&](int bin, R weight, long long number) {
                                        for (int j = 0; j < group; ++j)
                                            if (!Touch::greatest || chosen[Touch::greatest ? bin : 0][j] == number)
                                                sum[j] += weight * gradient[bin][j];
                                    });
                    __syncthreads();
                }
        }
    }

    if (!mine) return;
    constexpr int W = 16 / sizeof(T);
    struct alignas(16) Vector {
        T of[W];
    };
    T* out = static_cast<T*>(level.gradients.data) + tile.n * level.gradients.n + c * level.gradients.c +
             (tile.top + row) * level.gradients.y + (tile.left + column) * level.gradients.x;
    const bool vectors = level.gradients.c == 1 && args.channels % W == 0;
    for (int j = 0; j < group; j += W) {
        if (vectors && j < channels) {
            Vector made;
            for (int i = 0; i < W; ++i) made.of[i] = saturate_cast<T>(sum[j + i]);
            *reinterpret_cast<Vector*>(out + j) = made;
        } else {
            for (int i = 0; i < W; ++i)
                if (j + i < channels) out[(j + i) * level.gradients.c] = saturate_cast<T>(sum[j + i]);
        }
    }
}

}  // namespace cuaug
