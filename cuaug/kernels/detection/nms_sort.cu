#include "detection/bitonic_sort.cuh"
#include "detection/nms_boxes.cuh"
#include "gpu/convert.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

inline NmsSortKey shuffle_xor(const NmsSortKey& key, int distance) {
    return {__shfl_xor_sync(0xffffffffu, key.score, distance), __shfl_xor_sync(0xffffffffu, key.class_id, distance),
            __shfl_xor_sync(0xffffffffu, key.index, distance), 0};
}

// A block sorts a tile of one sample's boxes, one per thread, and clears the decisions and counters of nms.cu.
// Grid: (tiles x samples, orders): by class and score; if there are classes, also by score alone.
__global__ void __launch_bounds__(nms_tile) nms_sort(const __grid_constant__ NmsRecord args) {
    __shared__ NmsSortKey memory[nms_tile];
    allow_next_launch();
    const int tiles = nms_tiles(args), words = nms_words * nms_blocks(args);
    const long long n = blockIdx.x / tiles;
    const int tile = static_cast<int>(blockIdx.x - n * tiles);

    if (blockIdx.y == 0) {
        const long long word = static_cast<long long>(tile) * (nms_tile / 32) + threadIdx.x;
        if (threadIdx.x < nms_tile / 32 && word < words) args.decisions[n * words + word] = 0;
        if (tile == 0 && threadIdx.x == 0) args.block_counts[1 + n] = 0;
        if (blockIdx.x == 0 && threadIdx.x == 0) args.block_counts[0] = 0;
    }
    const long long i = static_cast<long long>(tile) * nms_tile + threadIdx.x;
    const NmsSortKey key =
        i < args.count ? make_sort_key(args, n, static_cast<int>(i), blockIdx.y == 0) : padding_key();
    args.keys[((blockIdx.y * args.samples + n) * tiles + tile) * nms_tile + threadIdx.x] = bitonic_sort(key, memory);
}

}  // namespace cuaug
