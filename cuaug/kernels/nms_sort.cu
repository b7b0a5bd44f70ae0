#include "gpu/convert.cuh"
#include "nms_record.cuh"

namespace cuaug {

constexpr int nms_sort_threads = nms_tile / 2;

// Bitonic: each thread compares one pair in each of 55 rounds. Ends behind a barrier.
inline void sort_tile(NmsKey* keys) {
    for (int run = 2; run <= nms_tile; run *= 2)
        for (int apart = run / 2; apart > 0; apart /= 2) {
            const int i = 2 * threadIdx.x - (threadIdx.x & (apart - 1)), j = i + apart;
            const NmsKey low = keys[i], high = keys[j];
            if (before(high, low) == ((i & run) == 0)) keys[i] = high, keys[j] = low;
            __syncthreads();
        }
}

inline void load_tile(const Nms& args, long long n, int tile, bool by_class, NmsKey* keys) {
    for (int k = threadIdx.x; k < nms_tile; k += nms_sort_threads) {
        const long long i = static_cast<long long>(tile) * nms_tile + k;
        keys[k] = i < args.count ? nms_key(args, n, static_cast<int>(i), by_class) : no_key();
    }
    __syncthreads();
}

// A block sorts a tile of one sample's boxes, and clears what nms.cu counts with. Where the sample is one tile, it makes candidates of them.
// Grid: (tiles x samples, orders), and 1 order where a sample is one tile.
template <class R>
__global__ void __launch_bounds__(nms_sort_threads, Same<R, Rotated>::value ? 2 : 1) nms_sort(const __grid_constant__ Nms args) {
    __shared__ NmsKey keys[nms_tile];
    __shared__ short places[nms_tile];
    const int tiles = nms_tiles(args), halves = 2 * nms_blocks(args);
    const long long n = blockIdx.x / tiles;
    const int tile = static_cast<int>(blockIdx.x - n * tiles);
    const bool classes = args.classes.data != nullptr;

    if (blockIdx.y == 0) {
        const long long half = static_cast<long long>(tile) * (nms_tile / 32) + threadIdx.x;
        if (threadIdx.x < nms_tile / 32 && half < halves) args.published[n * halves + half] = 0;
        if (tile == 0 && threadIdx.x == 0) args.state[1 + n] = 0;
        if (blockIdx.x == 0 && threadIdx.x == 0) args.state[0] = 0;
    }
    if (tiles > 1) {
        load_tile(args, n, tile, blockIdx.y == 0, keys);
        sort_tile(keys);
        NmsKey* out = args.keys + ((blockIdx.y * args.samples + n) * tiles + tile) * nms_tile;
        for (int k = threadIdx.x; k < nms_tile; k += nms_sort_threads) out[k] = keys[k];
        return;
    }
    if (classes) {
        load_tile(args, n, 0, false, keys);
        sort_tile(keys);
        for (int k = threadIdx.x; k < args.count; k += nms_sort_threads) places[keys[k].index] = static_cast<short>(k);
        __syncthreads();
    }
    load_tile(args, n, 0, true, keys);
    sort_tile(keys);
    Candidate<R>* candidates = static_cast<Candidate<R>*>(args.candidates) + n * args.count;
    for (int k = threadIdx.x; k < args.count; k += nms_sort_threads) {
        int start = 0;
        for (int end = k; classes && start < end;) {
            const int middle = (start + end) / 2;
            if (keys[middle].group < keys[k].group) start = middle + 1;
            else end = middle;
        }
        candidates[k] = candidate<R>(args, n, keys[k], classes ? places[keys[k].index] : k, start);
    }
}

}  // namespace cuaug
