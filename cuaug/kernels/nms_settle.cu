#include "gpu/succession.cuh"
#include "nms_kept.cuh"
#include "nms_pairs.cuh"

namespace cuaug {

constexpr int nms_settle_threads = 1024, nms_settle_room = 6656;  // words that a block's threads have beside them, all in all

// What a box is told of those that would remove it: whom a kept one removes is gone, and whom all have left is kept.
struct Fate {
    bool gone, open;

    // Of the boxes of a word, those of `hit` would remove it.
    bool hears(unsigned int hit, unsigned long long known) {
        const bool more = (hit & ~static_cast<unsigned int>(known >> 32)) != 0;
        gone = gone || (hit & static_cast<unsigned int>(known)) != 0;
        open = open || more;
        return more;
    }
};

// Calls `use` with what each part has found of a box, several parts being asked for at once.
template <class Use>
inline void each_part(const int* found, int parts, int count, const Use& use) {
    constexpr int together = 8;
    for (int first = 0; first < parts; first += together) {
        int in_part[together];
        for (int i = 0; i < together; ++i) in_part[i] = first + i < parts ? found[(first + i) * count] : 0;
        for (int i = 0; i < together; ++i)
            if (first + i < parts) use(first + i, in_part[i]);
    }
}

// Calls `use` with the words of a part in which some box would remove the box.
template <class Use>
inline void each_word(int part, int found, const Use& use) {
    for (unsigned int left = words_of(found); left != 0; left &= left - 1) use(nms_part_words * part + __ffs(static_cast<int>(left)) - 1);
}

// Decides which boxes are kept by who would remove whom (nms_hits.cu), a thread a box, which looks again and again at what the others are, until all of its block are
// decided: that takes a few steps. Blocks of a sample wait for each other, and all of them have places on the GPU (`_nms._plan`): they take their numbers as they
// begin, sample after sample. Grid: (blocks x samples).
__global__ void __launch_bounds__(nms_settle_threads) nms_settle(const __grid_constant__ Nms args) {
    constexpr unsigned int everyone = 0xffffffffu;
    constexpr int together = 4;
    __shared__ unsigned int near_hits[nms_settle_room];
    __shared__ unsigned short near_words[nms_settle_room];
    __shared__ unsigned long long known[nms_most_parts * nms_part_words];  // of each word, who is kept, and above these who is decided
    __shared__ int number, taken;
    const int lane = threadIdx.x & 31, threads = blockDim.x, words = nms_pair_words(args), parts = nms_parts(args), count = args.count;
    const int blocks = (count + threads - 1) / threads;
    wait_for_previous();
    if (threadIdx.x == 0) number = blocks > 1 ? atomicAdd(args.state, 1) : blockIdx.x, taken = 0;
    __syncthreads();
    const int n = number / blocks, block = number - n * blocks, index = threads * block + threadIdx.x, own_word = index / 32, first_word = threads / 32 * block;
    const int* found = nms_found_of(args, n) + index;
    const unsigned int* hits = nms_hits_of(args, n) + index;

    int place = 0, near = 0;
    bool gone = index >= count, stays = false;
    each_part(found, gone ? 0 : parts, count, [&](int, int in_part) {
        place += before_of(in_part);
        near += __popc(words_of(in_part));
        gone = gone || (in_part & nms_absent) != 0;
    });
    if (gone) near = 0;
    int end = near;
    for (int i = 1; i < 32; i *= 2) {
        const int other = __shfl_up_sync(everyone, end, i);
        if (lane >= i) end += other;
    }
    const int all = __shfl_sync(everyone, end, 31), base = __shfl_sync(everyone, lane == 0 ? atomicAdd(&taken, all) : 0, 0);
    // The words with boxes that would remove this one, beside the thread if there is room for them.
    unsigned int* own_hits = near_hits + base + end - near;
    unsigned short* own_words = near_words + base + end - near;
    const bool beside = base + end <= nms_settle_room;
    if (beside) {
        int next = 0;
        if (near > 0) each_part(found, parts, count, [&](int part, int in_part) { each_word(part, in_part, [&](int word) { own_words[next++] = word; }); });
        for (int first = 0; first < near; first += together) {
            unsigned int hit[together];
            for (int i = 0; i < together; ++i) hit[i] = first + i < near ? hits[own_words[first + i] * count] : 0;
            for (int i = 0; i < together; ++i)
                if (first + i < near) own_hits[first + i] = hit[i];
        }
    }

    volatile unsigned long long* published = args.published + static_cast<long long>(n) * words;
    for (unsigned int told = 0;;) {
        const unsigned int kept = __ballot_sync(everyone, stays), decided = kept | __ballot_sync(everyone, gone);
        if (lane == 0 && own_word < words) {
            known[own_word] = static_cast<unsigned long long>(decided) << 32 | kept;
            if (blocks > 1 && decided != told) published[own_word] = known[own_word];
        }
        told = decided;
        if (blocks > 1)
            for (int word = threadIdx.x; word < words; word += threads)
                if (word < first_word || word >= first_word + threads / 32) known[word] = published[word];
        if (__syncthreads_and(decided == everyone)) break;
        if (!gone && !stays) {
            Fate fate = {false, false};
            if (beside) {
                int left = 0;  // of those that may yet be kept
                for (int i = 0; i < near; ++i) {
                    const unsigned int hit = own_hits[i];
                    const int word = own_words[i];
                    if (fate.hears(hit, known[word])) own_hits[left] = hit, own_words[left++] = word;
                }
                near = left;
            } else {
                each_part(found, parts, count, [&](int part, int in_part) { each_word(part, in_part, [&](int word) { fate.hears(hits[word * count], known[word]); }); });
            }
            gone = fate.gone;
            stays = !fate.gone && !fate.open;
        }
        __syncthreads();
    }

    if (index < count) {
        args.kept[static_cast<long long>(n) * count + place] = stays ? index : -1;
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
