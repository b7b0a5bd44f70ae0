#include "gpu/succession.cuh"
#include "nms_kept.cuh"
#include "nms_pairs.cuh"

namespace cuaug {

constexpr int nms_settle_threads = 1024, nms_settle_warps = nms_settle_threads / 32, nms_group = 32;  // words of boxes that a warp looks at
constexpr int nms_patience = 256;                                                                      // rounds without news, about 0.2 ms

// What the warps of a block share.
struct Settling {
    int words, groups, each, blocks;  // of a sample: its words, in groups; a block has `each` of them, and a warp one with one group
    int patience;                     // how many rounds without news a block waits for others
    unsigned long long known[nms_most_parts * nms_part_words];              // of each word, who is kept, and above these who is decided
    int places[nms_settle_threads];
    unsigned int removed[nms_settle_warps], waiting[2][nms_settle_warps];  // of the block's words; those who wait in this round, and in the next
};

// Decides the boxes of a block's words, from `first` on: whom a kept one removes is gone, and whom all have left that would remove it is kept. Each warp looks again
// and again at what the others are, in this block and elsewhere; boxes are decided in a few rounds. It gives up after some rounds without news. All threads.
inline void settle(const Nms& args, Settling& shared, int n, int first) {
    constexpr unsigned int everyone = 0xffffffffu;
    const int parts = nms_parts(args), count = args.count, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int own = warp / shared.groups, group = warp - own * shared.groups, word = first + own, index = 32 * word + lane;
    const bool present = index < count;
    volatile unsigned long long* published = args.published + static_cast<long long>(n) * shared.words;
    __syncthreads();
    shared.places[threadIdx.x] = 0;
    if (threadIdx.x < nms_settle_warps) shared.removed[lane] = shared.waiting[0][lane] = 0;
    __syncthreads();

    // Who would remove the lane's box; and what is decided already, should others have given up.
    const int* found = nms_found_of(args, n) + index;
    const unsigned int* hits = nms_hits_of(args, n) + static_cast<long long>(nms_group * group) * count + index;
    const unsigned long long sofar = shared.blocks > 1 && word < shared.words ? published[word] : 0;
    if (group == 0 && lane == 0 && word < shared.words) shared.known[word] = sofar;
    unsigned int some = 0, hit[nms_group];
    int before = 0;
    bool stays = (sofar >> lane & 1) != 0, gone = !present || (!stays && (sofar >> (32 + lane) & 1) != 0);
    for (int i = 0; i < nms_group / nms_part_words; ++i) {
        const int part = nms_group / nms_part_words * group + i, in_part = present && part < parts ? found[part * count] : 0;
        before += before_of(in_part);
        some |= words_of(in_part) << nms_part_words * i;
        gone = gone || (in_part & nms_absent) != 0;
    }
    for (int i = 0; i < nms_group; ++i) hit[i] = (some >> i & 1) != 0 ? hits[i * count] : 0;
    atomicAdd(shared.places + 32 * own + lane, before);

    for (int round = 0, quiet = -1; quiet <= shared.patience; round ^= 1) {
        const unsigned int kept = __ballot_sync(everyone, stays), decided = kept | __ballot_sync(everyone, gone);
        bool news = false;
        if (group == 0 && lane == 0 && word < shared.words) {
            const unsigned long long now = static_cast<unsigned long long>(decided) << 32 | kept;
            news = now != shared.known[word];
            shared.known[word] = now;
            if (shared.blocks > 1 && news) published[word] = now;
        }
        if (shared.blocks > 1)
            for (int other = threadIdx.x; other < shared.words; other += blockDim.x)
                if (other < first || other >= first + shared.each) {
                    const unsigned long long now = published[other];
                    news = news || now != shared.known[other];
                    shared.known[other] = now;
                }
        if (__syncthreads_and(decided == everyone)) break;

        if (group == 0 && lane == 0) shared.waiting[round ^ 1][own] = 0;
        if (decided != everyone) {
            unsigned int removing = 0, open = 0;
            for (int i = 0; i < nms_group; ++i) {
                const unsigned long long theirs = shared.known[nms_group * group + i];
                removing |= hit[i] & static_cast<unsigned int>(theirs);
                open |= hit[i] & ~static_cast<unsigned int>(theirs >> 32);
            }
            const unsigned int goes = __ballot_sync(everyone, removing != 0), waits = __ballot_sync(everyone, open != 0);
            if (lane == 0) {
                if (goes != 0) atomicOr(shared.removed + own, goes);
                if (waits != 0) atomicOr(shared.waiting[round] + own, waits);
            }
        }
        quiet = __syncthreads_or(news) != 0 ? 0 : quiet + 1;
        gone = gone || (shared.removed[own] >> lane & 1) != 0;
        stays = !gone && (shared.waiting[round][own] >> lane & 1) == 0;
    }
    if (group == 0 && present) args.kept[static_cast<long long>(n) * count + shared.places[32 * own + lane]] = stays ? index : -1;
}

// The first word of the next block's, after those from `first` on, that has boxes not decided; -1: none has. All threads.
inline int next_open(const Nms& args, const Settling& shared, int n, int first) {
    const volatile unsigned long long* published = args.published + static_cast<long long>(n) * shared.words;
    bool open = false;
    for (int word = threadIdx.x; word < shared.words; word += blockDim.x) open = open || published[word] >> 32 != 0xffffffffu;
    if (__syncthreads_or(open) == 0) return -1;
    for (bool here = false; !here;) {
        first += shared.each;
        if (first >= shared.words) first = 0;
        const int word = first + threadIdx.x;
        here = __syncthreads_or(threadIdx.x < shared.each && word < shared.words && published[word] >> 32 != 0xffffffffu) != 0;
    }
    return first;
}

// Decides which boxes are kept by who would remove whom (nms_hits.cu). The last block of a sample to be done writes its result, and before it decides what others
// have left: blocks wait for each other, but not for ever, since not all of them need have begun. Grid: (blocks x samples).
__global__ void __launch_bounds__(nms_settle_threads) nms_settle(const __grid_constant__ Nms args) {
    __shared__ Settling shared;
    __shared__ int number;
    const int words = nms_pair_words(args), groups = (words + nms_group - 1) / nms_group, each = (blockDim.x >> 5) / groups, blocks = (words + each - 1) / each;
    const int n = blockIdx.x / blocks;
    int first = (blockIdx.x - n * blocks) * each;
    if (threadIdx.x == 0) shared.words = words, shared.groups = groups, shared.each = each, shared.blocks = blocks, shared.patience = nms_patience;
    wait_for_previous();
    __syncthreads();
    for (bool alone = false; first >= 0; first = next_open(args, shared, n, first)) {
        settle(args, shared, n, first);
        __threadfence();
        __syncthreads();
        if (alone) continue;
        if (threadIdx.x == 0) number = shared.blocks > 1 ? atomicAdd(args.state + 1 + n, 1) : 0, shared.patience = 0;
        __syncthreads();
        if (number < shared.blocks - 1) return;
        __threadfence();
        if (shared.blocks == 1) break;
        alone = true;
    }
    write_kept(args, n);
}

}  // namespace cuaug
