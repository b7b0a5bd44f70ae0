#include "detection/nms_output.cuh"
#include "detection/nms_pairs.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

constexpr int nms_resolve_threads = 1024, nms_resolve_warps = nms_resolve_threads / 32;
constexpr int nms_group = 32;             // words of possible suppressors that a warp tests
constexpr int nms_max_idle_rounds = 256;  // rounds without a new decision, about 0.2 ms
constexpr unsigned int full_warp = 0xffffffffu;

// Shared memory of a block. A block resolves `block_words` words of 32 boxes; a warp tests one of them against one
// group of possible suppressors.
struct ResolveShared {
    int words, groups, block_words;                                // words of a sample, and their groups
    unsigned long long decisions[nms_max_parts * nms_part_words];  // of each word, as in NmsRecord
    int score_rank[nms_resolve_threads];
    // For each word of the block: which boxes are removed, and which have an undecided suppressor, in this round and
    // the next.
    unsigned int removed[nms_resolve_warps], waiting[2][nms_resolve_warps];
};

// The decisions of each word of a sample, as published by its block.
inline volatile unsigned long long* decisions_of(const NmsRecord& args, const ResolveShared& shared, int n) {
    return args.decisions + static_cast<long long>(n) * shared.words;
}

// Which boxes of a group would suppress the lane's box, and how many boxes of the group precede it.
struct SuppressorMasks {
    unsigned int by[nms_group];
    int preceding;
    bool is_absent;
};

inline SuppressorMasks load_masks(const NmsRecord& args, int n, int group, int index) {
    const int parts = nms_parts(args), count = args.count;
    const bool exists = index < count;
    const int* summaries = part_summaries_of(args, n) + index;
    const unsigned int* masks = overlap_masks_of(args, n) + static_cast<long long>(nms_group * group) * count + index;
    SuppressorMasks loaded = {{}, 0, !exists};
    unsigned int nonzero = 0;
    for (int i = 0; i < nms_group / nms_part_words; ++i) {
        const int part = nms_group / nms_part_words * group + i,
                  summary = exists && part < parts ? summaries[part * count] : 0;
        loaded.preceding += summary_preceding(summary);
        nonzero |= summary_words(summary) << nms_part_words * i;
        loaded.is_absent = loaded.is_absent || (summary & summary_absent) != 0;
    }
    for (int i = 0; i < nms_group; ++i) loaded.by[i] = (nonzero >> i & 1) != 0 ? masks[i * count] : 0;
    return loaded;
}

// A thread with `publishes` publishes `word_decisions`, the decisions about word `word` of its block. Each thread polls
// at most one word of the other blocks, as a sample has no more words than a block has threads. Returns whether a
// decision is new.
inline bool exchange_decisions(ResolveShared& shared, volatile unsigned long long* decisions, int first, int word,
                               bool publishes, unsigned long long word_decisions) {
    bool is_new = false;
    if (publishes) {
        is_new = word_decisions != shared.decisions[word];
        shared.decisions[word] = word_decisions;
        if (is_new) decisions[word] = word_decisions;
    }
    const int other = threadIdx.x;
    if (other < shared.words && (other < first || other >= first + shared.block_words)) {
        const unsigned long long polled = decisions[other];
        is_new = is_new || polled != shared.decisions[other];
        shared.decisions[other] = polled;
    }
    return is_new;
}

// Resolves the boxes of a block's words from `first` on: a box is removed once a kept box suppresses it, and kept once
// every box that would suppress it is removed. Every round, each warp reads the decisions about its group of possible
// suppressors, of this block and others; boxes are decided in a few rounds. Gives up after more than `max_idle_rounds`
// consecutive rounds without a new decision. Called by all threads of a block.
inline void resolve_words(const NmsRecord& args, ResolveShared& shared, int n, int first, int max_idle_rounds) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, word_in_block = warp / shared.groups,
              group = warp - word_in_block * shared.groups, word = first + word_in_block, index = 32 * word + lane;
    const bool publishes = group == 0 && lane == 0 && word < shared.words;
    volatile unsigned long long* decisions = decisions_of(args, shared, n);
    shared.score_rank[threadIdx.x] = 0;
    if (threadIdx.x < nms_resolve_warps) shared.removed[lane] = shared.waiting[0][lane] = 0;
    __syncthreads();

    const unsigned long long earlier = word < shared.words ? decisions[word] : 0;  // by a block that has given up, or 0
    if (publishes) shared.decisions[word] = earlier;
    const SuppressorMasks masks = load_masks(args, n, group, index);
    bool is_kept = (earlier >> lane & 1) != 0,
         is_removed = masks.is_absent || (!is_kept && (earlier >> (32 + lane) & 1) != 0);
    atomicAdd(shared.score_rank + 32 * word_in_block + lane, masks.preceding);

    // From -1, as the first round does not count as idle: a round publishes the decisions of the round before, and the
    // first one publishes nothing new except which boxes are absent.
    for (int round = 0, idle_rounds = -1; idle_rounds <= max_idle_rounds; round ^= 1) {
        const unsigned int kept = __ballot_sync(full_warp, is_kept),
                           decided = kept | __ballot_sync(full_warp, is_removed);
        const bool is_new = exchange_decisions(shared, decisions, first, word, publishes,
                                               static_cast<unsigned long long>(decided) << 32 | kept);
        if (__syncthreads_and(decided == full_warp)) break;

        if (publishes) shared.waiting[round ^ 1][word_in_block] = 0;
        if (decided != full_warp) {
            unsigned int suppressors = 0, undecided = 0;
            for (int i = 0; i < nms_group; ++i) {
                const unsigned long long other = shared.decisions[nms_group * group + i];
                suppressors |= masks.by[i] & static_cast<unsigned int>(other);
                undecided |= masks.by[i] & ~static_cast<unsigned int>(other >> 32);
            }
            const unsigned int removed = __ballot_sync(full_warp, suppressors != 0),
                               waiting = __ballot_sync(full_warp, undecided != 0);
            if (lane == 0) {
                if (removed != 0) atomicOr(shared.removed + word_in_block, removed);
                if (waiting != 0) atomicOr(shared.waiting[round] + word_in_block, waiting);
            }
        }
        idle_rounds = __syncthreads_or(is_new) != 0 ? 0 : idle_rounds + 1;
        is_removed = is_removed || (shared.removed[word_in_block] >> lane & 1) != 0;
        is_kept = !is_removed && (shared.waiting[round][word_in_block] >> lane & 1) == 0;
    }
    if (group == 0 && index < args.count)
        args.kept[static_cast<long long>(n) * args.count + shared.score_rank[32 * word_in_block + lane]] =
            is_kept ? index : -1;
}

// The first word of the next block with an undecided box, cyclically after the block whose words begin at `first`; -1
// if all boxes are decided. Called by all threads of the sample's last block, when no other block writes decisions any
// longer.
inline int next_undecided(const NmsRecord& args, const ResolveShared& shared, int n, int first) {
    const int word = threadIdx.x;
    const bool is_undecided = word < shared.words && decisions_of(args, shared, n)[word] >> 32 != full_warp;
    if (__syncthreads_or(is_undecided) == 0) return -1;
    do {
        first = first + shared.block_words < shared.words ? first + shared.block_words : 0;
    } while (__syncthreads_or(is_undecided && word >= first && word < first + shared.block_words) == 0);
    return first;
}

// Decides which boxes are kept, from the overlap masks (nms_overlap_mask.cu). Blocks wait for each other's decisions,
// but only for a limited number of rounds, because the other blocks may not have begun. The block that finishes last in
// its sample resolves the words that others have given up, and writes the result. Grid: (blocks x samples).
__global__ void __launch_bounds__(nms_resolve_threads) nms_resolve(const __grid_constant__ NmsRecord args) {
    __shared__ ResolveShared shared;
    __shared__ int blocks_done;
    const int words = nms_box_words(args), groups = (words + nms_group - 1) / nms_group,
              block_words = (blockDim.x >> 5) / groups, blocks = gridDim.x / static_cast<int>(args.samples);
    const int n = blockIdx.x / blocks;
    int first = (blockIdx.x - n * blocks) * block_words;
    if (threadIdx.x == 0) shared.words = words, shared.groups = groups, shared.block_words = block_words;
    wait_for_previous();
    __syncthreads();
    for (bool is_last = false; first >= 0; first = next_undecided(args, shared, n, first)) {
        resolve_words(args, shared, n, first, is_last ? 0 : nms_max_idle_rounds);
        __threadfence();
        __syncthreads();
        if (is_last) continue;
        if (threadIdx.x == 0) blocks_done = atomicAdd(args.block_counts + 1 + n, 1);
        __syncthreads();
        if (blocks_done < blocks - 1) return;
        __threadfence();
        is_last = true;
    }
    write_output(args, n);
}

}  // namespace cuaug
