#include "detection/nms_boxes.cuh"
#include "gpu/convert.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

constexpr int nms_rank_threads = 64, nms_tiles_at_once = 8;

// Counts the keys of a sample that precede `key`, by a binary search in each sorted tile of the sample. Several tiles
// are searched at once, because each step of a search waits for memory.
inline int rank_of(const NmsSortKey* keys, int tiles, const NmsSortKey& key) {
    int rank = 0;
    for (int tile = 0; tile < tiles; tile += nms_tiles_at_once) {
        const NmsSortKey* sorted[nms_tiles_at_once];
        int low[nms_tiles_at_once];
        for (int j = 0; j < nms_tiles_at_once; ++j)
            sorted[j] = keys + static_cast<long long>(min(tile + j, tiles - 1)) * nms_tile, low[j] = 0;
        for (int step = nms_tile / 2; step > 0; step /= 2) {
            bool precedes_key[nms_tiles_at_once];
            for (int j = 0; j < nms_tiles_at_once; ++j) precedes_key[j] = precedes(sorted[j][low[j] + step - 1], key);
            for (int j = 0; j < nms_tiles_at_once; ++j) low[j] += precedes_key[j] ? step : 0;
        }
        for (int j = 0; j < nms_tiles_at_once; ++j)
            if (tile + j < tiles) rank += low[j] + (low[j] == nms_tile - 1 && precedes(sorted[j][low[j]], key));
    }
    return rank;
}

// A thread finds the rank of a key among those of its sample, and stores its box at that position. Grid: (tiles x
// nms_tile / threads x samples).
template <class R>
__global__ void __launch_bounds__(nms_rank_threads, 1) nms_rank(const __grid_constant__ NmsRecord args) {
    const int tiles = nms_tiles(args);
    const long long keys_per_sample = static_cast<long long>(tiles) * nms_tile,
                    key_index = static_cast<long long>(blockIdx.x) * nms_rank_threads + threadIdx.x;
    const long long n = key_index / keys_per_sample;
    const NmsSortKey* by_class = args.keys + n * keys_per_sample;
    allow_next_launch();
    wait_for_previous();
    NmsSortKey key = args.keys[key_index];
    if (key.index >= args.count) return;

    const int rank = rank_of(by_class, tiles, key);
    int score_rank = rank, class_begin = 0;
    if (args.classes.data != nullptr) {
        class_begin = rank_of(by_class, tiles, {~0ull, key.class_id, -1, 0});
        score_rank = rank_of(by_class + args.samples * keys_per_sample, tiles, {key.score, 0, key.index, 0});
    }
    static_cast<RankedBox<R>*>(args.ranked_boxes)[n * args.count + rank] =
        make_ranked_box<R>(args, n, key, score_rank, class_begin);
}

}  // namespace cuaug
