#include "gpu/convert.cuh"
#include "nms_record.cuh"

namespace cuaug {

constexpr int nms_rank_threads = 256;

// How many keys of a sample come before one, by a binary search in each of its sorted tiles.
inline int rank_of(const NmsKey* keys, int tiles, const NmsKey& key) {
    int rank = 0;
    for (int tile = 0; tile < tiles; ++tile) {
        const NmsKey* sorted = keys + static_cast<long long>(tile) * nms_tile;
        int low = 0;
        for (int step = nms_tile / 2; step > 0; step /= 2)
            if (before(sorted[low + step - 1], key)) low += step;
        rank += low + (low == nms_tile - 1 && before(sorted[low], key));
    }
    return rank;
}

// A thread finds a key's rank among its sample's, and puts its candidate there. Grid: (tiles x tile / threads x samples).
template <class R>
__global__ void __launch_bounds__(nms_rank_threads, Same<R, Rotated>::value ? 4 : 1) nms_rank(const __grid_constant__ Nms args) {
    const int tiles = nms_tiles(args);
    const long long slots = static_cast<long long>(tiles) * nms_tile, slot = static_cast<long long>(blockIdx.x) * nms_rank_threads + threadIdx.x;
    const long long n = slot / slots;
    const NmsKey* grouped = args.keys + n * slots;
    NmsKey key = args.keys[slot];
    if (key.index >= args.count) return;

    const int rank = rank_of(grouped, tiles, key);
    int place = rank, start = 0;
    if (args.classes.data != nullptr) {
        start = rank_of(grouped, tiles, {~0ull, key.group, -1, 0});
        place = rank_of(grouped + args.samples * slots, tiles, {key.score, 0, key.index, 0});
    }
    static_cast<Candidate<R>*>(args.candidates)[n * args.count + rank] = candidate<R>(args, n, key, place, start);
}

}  // namespace cuaug
