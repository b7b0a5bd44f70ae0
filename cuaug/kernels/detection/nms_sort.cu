#include "gpu/convert.cuh"
#include "gpu/programmatic_launch.cuh"
#include "records/nms.cuh"

namespace cuaug {

inline NmsKey exchanged(const NmsKey& key, int apart) {
    return {__shfl_xor_sync(0xffffffffu, key.score, apart), __shfl_xor_sync(0xffffffffu, key.group, apart),
            __shfl_xor_sync(0xffffffffu, key.index, apart), 0};
}

}  // namespace cuaug

#include "detection/bitonic_sort.cuh"

namespace cuaug {

// A block sorts a tile of one sample's boxes, a thread each, and clears what detection/nms.cu counts with.
// Grid: (tiles x samples, orders): by class and score, and where there are classes by score alone.
__global__ void __launch_bounds__(nms_tile) nms_sort(const __grid_constant__ Nms args) {
    __shared__ NmsKey memory[nms_tile];
    let_next_begin();
    const int tiles = nms_tiles(args), words = nms_words * nms_blocks(args);
    const long long n = blockIdx.x / tiles;
    const int tile = static_cast<int>(blockIdx.x - n * tiles);

    if (blockIdx.y == 0) {
        const long long word = static_cast<long long>(tile) * (nms_tile / 32) + threadIdx.x;
        if (threadIdx.x < nms_tile / 32 && word < words) args.published[n * words + word] = 0;
        if (tile == 0 && threadIdx.x == 0) args.state[1 + n] = 0;
        if (blockIdx.x == 0 && threadIdx.x == 0) args.state[0] = 0;
    }
    const long long i = static_cast<long long>(tile) * nms_tile + threadIdx.x;
    const NmsKey key = i < args.count ? nms_key(args, n, static_cast<int>(i), blockIdx.y == 0) : no_key();
    args.keys[((blockIdx.y * args.samples + n) * tiles + tile) * nms_tile + threadIdx.x] = bitonic(key, memory);
}

}  // namespace cuaug
