#include "gpu/convert.cuh"
#include "gpu/programmatic_launch.cuh"
#include "records/nms.cuh"

namespace cuaug {

constexpr int nms_rank_threads = 64, nms_together = 8;

// How many keys of a sample come before one, by a binary search in each of its sorted tiles; in eight at a time, as
// each step waits for memory.
inline int rank_of(const NmsKey* keys, int tiles, const NmsKey& key) {
    int rank = 0;
    for (int tile = 0; tile < tiles; tile += nms_together) {
        const NmsKey* sorted[nms_together];
        int low[nms_together];
        for (int j = 0; j < nms_together; ++j)
            sorted[j] = keys + static_cast<long long>(min(tile + j, tiles - 1)) * nms_tile, low[j] = 0;
        for (int step = nms_tile / 2; step > 0; step /= 2) {
            bool beyond[nms_together];
            for (int j = 0; j < nms_together; ++j) beyond[j] = before(sorted[j][low[j] + step - 1], key);
            for (int j = 0; j < nms_together; ++j) low[j] += beyond[j] ? step : 0;
        }
        for (int j = 0; j < nms_together; ++j)
            if (tile + j < tiles) rank += low[j] + (low[j] == nms_tile - 1 && before(sorted[j][low[j]], key));
    }
    return rank;
}

// A thread finds a key's rank among its sample's, and puts its candidate there. Grid: (tiles x tile / threads x
// samples).
template <class R>
__global__ void __launch_bounds__(nms_rank_threads, 1) nms_rank(const __grid_constant__ Nms args) {
    const int tiles = nms_tiles(args);
    const long long slots = static_cast<long long>(tiles) * nms_tile,
                    slot = static_cast<long long>(blockIdx.x) * nms_rank_threads + threadIdx.x;
    const long long n = slot / slots;
    const NmsKey* grouped = args.keys + n * slots;
    let_next_begin();
    wait_for_previous();
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
