#include "gpu/programmatic_launch.cuh"
#include "detection/nms_output.cuh"
#include "detection/nms_pairs.cuh"

namespace cuaug {

constexpr int nms_settle_threads = 1024, nms_settle_warps = nms_settle_threads / 32,
              nms_group = 32;      // words of boxes that a warp looks at
constexpr int nms_patience = 256;  // rounds without news, about 0.2 ms
constexpr unsigned int everyone = 0xffffffffu;

// What the warps of a block share.
struct Settling {
    int words, groups,
        each;  // of a sample: its words, in groups; a block has `each` of them, and a warp one with one group
    unsigned long long
        known[nms_most_parts * nms_part_words];  // of each word, who is kept, and above these who is decided
    int places[nms_settle_threads];
    unsigned int removed[nms_settle_warps],
        waiting[2][nms_settle_warps];  // of the block's words; those who wait in this round, and in the next
};

// Of each word of a sample, what its block has told the others. There are no more words than a block has threads.
inline volatile unsigned long long* published_of(const Nms& args, const Settling& shared, int n) {
    return args.published + static_cast<long long>(n) * shared.words;
}

// Which boxes of a group's words would remove a lane's own, and how many come before it.
struct Removers {
    unsigned int by[nms_group];
    int before;
    bool absent;
};

inline Removers removers_of(const Nms& args, int n, int group, int index) {
    const int parts = nms_parts(args), count = args.count;
    const bool present = index < count;
    const int* found = nms_found_of(args, n) + index;
    const unsigned int* hits = nms_hits_of(args, n) + static_cast<long long>(nms_group * group) * count + index;
    Removers made = {{}, 0, !present};
    unsigned int some = 0;
    for (int i = 0; i < nms_group / nms_part_words; ++i) {
        const int part = nms_group / nms_part_words * group + i,
                  in_part = present && part < parts ? found[part * count] : 0;
        made.before += before_of(in_part);
        some |= words_of(in_part) << nms_part_words * i;
        made.absent = made.absent || (in_part & nms_absent) != 0;
    }
    for (int i = 0; i < nms_group; ++i) made.by[i] = (some >> i & 1) != 0 ? hits[i * count] : 0;
    return made;
}

// A thread that speaks for a word of its block's tells the other blocks what its boxes are `now`; each thread hears of
// one word of theirs. Whether there is news.
inline bool exchanged(Settling& shared, volatile unsigned long long* published, int first, int word, bool speaks,
                      unsigned long long now) {
    bool news = false;
    if (speaks) {
        news = now != shared.known[word];
        shared.known[word] = now;
        if (news) published[word] = now;
    }
    const int other = threadIdx.x;
    if (other < shared.words && (other < first || other >= first + shared.each)) {
        const unsigned long long theirs = published[other];
        news = news || theirs != shared.known[other];
        shared.known[other] = theirs;
    }
    return news;
}

// Decides the boxes of a block's words, from `first` on: whom a kept one removes is gone, and whom all have left that
// would remove it is kept. Each warp looks again and again at what the others are, in this block and elsewhere; boxes
// are decided in a few rounds. It gives up after `patience` rounds without news. All threads.
inline void settle(const Nms& args, Settling& shared, int n, int first, int patience) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, own = warp / shared.groups,
              group = warp - own * shared.groups, word = first + own, index = 32 * word + lane;
    const bool speaks = group == 0 && lane == 0 && word < shared.words;
    volatile unsigned long long* published = published_of(args, shared, n);
    shared.places[threadIdx.x] = 0;
    if (threadIdx.x < nms_settle_warps) shared.removed[lane] = shared.waiting[0][lane] = 0;
    __syncthreads();

    const unsigned long long sofar = word < shared.words ? published[word] : 0;  // should others have given up
    if (speaks) shared.known[word] = sofar;
    const Removers removers = removers_of(args, n, group, index);
    bool stays = (sofar >> lane & 1) != 0, gone = removers.absent || (!stays && (sofar >> (32 + lane) & 1) != 0);
    atomicAdd(shared.places + 32 * own + lane, removers.before);

    for (int round = 0, quiet = -1; quiet <= patience; round ^= 1) {
        const unsigned int kept = __ballot_sync(everyone, stays), decided = kept | __ballot_sync(everyone, gone);
        const bool news =
            exchanged(shared, published, first, word, speaks, static_cast<unsigned long long>(decided) << 32 | kept);
        if (__syncthreads_and(decided == everyone)) break;

        if (speaks) shared.waiting[round ^ 1][own] = 0;
        if (decided != everyone) {
            unsigned int removing = 0, open = 0;
            for (int i = 0; i < nms_group; ++i) {
                const unsigned long long theirs = shared.known[nms_group * group + i];
                removing |= removers.by[i] & static_cast<unsigned int>(theirs);
                open |= removers.by[i] & ~static_cast<unsigned int>(theirs >> 32);
            }
            const unsigned int goes = __ballot_sync(everyone, removing != 0),
                               waits = __ballot_sync(everyone, open != 0);
            if (lane == 0) {
                if (goes != 0) atomicOr(shared.removed + own, goes);
                if (waits != 0) atomicOr(shared.waiting[round] + own, waits);
            }
        }
        quiet = __syncthreads_or(news) != 0 ? 0 : quiet + 1;
        gone = gone || (shared.removed[own] >> lane & 1) != 0;
        stays = !gone && (shared.waiting[round][own] >> lane & 1) == 0;
    }
    if (group == 0 && index < args.count)
        args.kept[static_cast<long long>(n) * args.count + shared.places[32 * own + lane]] = stays ? index : -1;
}

// Where the words of the next block begin, after those from `first` on, that has boxes not decided; -1: none has. All
// threads of a sample's last block: nobody else writes any longer, so that all go the same way.
inline int next_open(const Nms& args, const Settling& shared, int n, int first) {
    const int word = threadIdx.x;
    const bool open = word < shared.words && published_of(args, shared, n)[word] >> 32 != everyone;
    if (__syncthreads_or(open) == 0) return -1;
    do {
        first = first + shared.each < shared.words ? first + shared.each : 0;
    } while (__syncthreads_or(open && word >= first && word < first + shared.each) == 0);
    return first;
}

// Decides which boxes are kept by who would remove whom (detection/nms_overlap_mask.cu). The last block of a sample to
// be done writes its result, and before it decides what others have left: blocks wait for each other, but not for ever,
// since not all of them need have begun. Grid: (blocks x samples); a sample has at least three.
__global__ void __launch_bounds__(nms_settle_threads) nms_resolve(const __grid_constant__ Nms args) {
    __shared__ Settling shared;
    __shared__ int number;
    const int words = nms_pair_words(args), groups = (words + nms_group - 1) / nms_group,
              each = (blockDim.x >> 5) / groups, blocks = gridDim.x / static_cast<int>(args.samples);
    const int n = blockIdx.x / blocks;
    int first = (blockIdx.x - n * blocks) * each;
    if (threadIdx.x == 0) shared.words = words, shared.groups = groups, shared.each = each;
    wait_for_previous();
    __syncthreads();
    for (bool alone = false; first >= 0; first = next_open(args, shared, n, first)) {
        settle(args, shared, n, first, alone ? 0 : nms_patience);
        __threadfence();
        __syncthreads();
        if (alone) continue;
        if (threadIdx.x == 0) number = atomicAdd(args.state + 1 + n, 1);
        __syncthreads();
        if (number < blocks - 1) return;
        __threadfence();
        alone = true;
    }
    write_kept(args, n);
}

}  // namespace cuaug
