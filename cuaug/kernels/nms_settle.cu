#include "gpu/succession.cuh"
#include "nms_kept.cuh"
#include "nms_pairs.cuh"

namespace cuaug {

constexpr int nms_settle_threads = 1024;

// Decides which boxes are kept by who would remove whom (nms_hits.cu): whom a kept one removes is gone, and whom all have left that would remove it is kept. A warp
// holds for 32 boxes what a group of 32 words of others would do to them, and looks again and again at what those are, until all boxes of its block are decided:
// that takes a few steps. Blocks of a sample wait for each other, and all of them have places on the GPU (`_nms._plan`): they take their numbers as they begin,
// sample after sample. Grid: (blocks x samples).
__global__ void __launch_bounds__(nms_settle_threads) nms_settle(const __grid_constant__ Nms args) {
    constexpr unsigned int everyone = 0xffffffffu;
    constexpr int group_parts = 32 / nms_part_words;
    __shared__ unsigned long long known[nms_most_parts * nms_part_words];  // of each word, who is kept, and above these who is decided
    __shared__ int places[nms_settle_threads];
    __shared__ unsigned int removed[32], waiting[2][32];                    // of the block's words; those who wait in this round, and in the next
    __shared__ int number;
    const int words = nms_pair_words(args), parts = nms_parts(args), count = args.count, groups = (words + 31) / 32;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, own = warp / groups, group = warp - own * groups;
    const int each = (blockDim.x >> 5) / groups, blocks = (words + each - 1) / each;
    wait_for_previous();
    places[threadIdx.x] = 0;
    if (threadIdx.x < 32) removed[lane] = waiting[0][lane] = 0;
    if (threadIdx.x == 0) number = gridDim.x > blocks ? atomicAdd(args.state, 1) : blockIdx.x;
    __syncthreads();
    const int n = number / blocks, block = number - n * blocks, first_word = block * each, word = first_word + own, index = 32 * word + lane;
    const bool present = index < count;

    const int* found = nms_found_of(args, n) + index;
    const unsigned int* hits = nms_hits_of(args, n) + static_cast<long long>(32 * group) * count + index;
    unsigned int some = 0, hit[32];
    int before = 0;
    bool gone = !present, stays = false;
    for (int i = 0; i < group_parts; ++i) {
        const int part = group_parts * group + i, in_part = present && part < parts ? found[part * count] : 0;
        before += before_of(in_part);
        some |= words_of(in_part) << nms_part_words * i;
        gone = gone || (in_part & nms_absent) != 0;
    }
    for (int i = 0; i < 32; ++i) hit[i] = (some >> i & 1) != 0 ? hits[i * count] : 0;
    atomicAdd(places + 32 * own + lane, before);

    volatile unsigned long long* published = args.published + static_cast<long long>(n) * words;
    unsigned int told = 0;
    for (int round = 0;; round ^= 1) {
        const unsigned int kept = __ballot_sync(everyone, stays), decided = kept | __ballot_sync(everyone, gone);
        if (group == 0 && lane == 0 && word < words) {
            known[word] = static_cast<unsigned long long>(decided) << 32 | kept;
            if (blocks > 1 && decided != told) published[word] = known[word];
        }
        told = decided;
        if (blocks > 1)
            for (int other = threadIdx.x; other < words; other += blockDim.x)
                if (other < first_word || other >= first_word + each) known[other] = published[other];
        if (__syncthreads_and(decided == everyone)) break;

        if (group == 0 && lane == 0) waiting[round ^ 1][own] = 0;
        if (decided != everyone) {
            unsigned int removing = 0, open = 0;
            for (int i = 0; i < 32; ++i) {
                const unsigned long long theirs = known[32 * group + i];
                removing |= hit[i] & static_cast<unsigned int>(theirs);
                open |= hit[i] & ~static_cast<unsigned int>(theirs >> 32);
            }
            const unsigned int goes = __ballot_sync(everyone, removing != 0), waits = __ballot_sync(everyone, open != 0);
            if (lane == 0) {
                if (goes != 0) atomicOr(removed + own, goes);
                if (waits != 0) atomicOr(waiting[round] + own, waits);
            }
        }
        __syncthreads();
        gone = gone || (removed[own] >> lane & 1) != 0;
        stays = !gone && (waiting[round][own] >> lane & 1) == 0;
    }

    if (group == 0 && present) {
        args.kept[static_cast<long long>(n) * count + places[32 * own + lane]] = stays ? index : -1;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) number = blocks > 1 ? atomicAdd(args.state + 1 + n, 1) : 0;
    __syncthreads();
    if (number == blocks - 1) {
        __threadfence();
        write_kept(args, n);
    }
}

}  // namespace cuaug
