#include "gpu/convert.cuh"
#include "gpu/programmatic_launch.cuh"
#include "detection/nms_output.cuh"

namespace cuaug {

constexpr int nms_threads = 256, nms_warps = nms_threads / 32;

// Blocks before a block's own whose overlaps with it are found before they have decided, so that it follows their
// decisions one by one. The more there are, the more blocks decide side by side; at most 16, a lane for each word. The
// overlap of rotated boxes is too dear to be found in vain.
template <class R>
constexpr int nms_near = is_same_v<R, Rotated> ? 2 : 8;

constexpr unsigned int everyone = 0xffffffffu;

template <class R>
inline Candidate<R> candidate_at(const Candidate<R>* sorted, int position, int count) {
    return position < count ? sorted[position] : no_candidate<R>();
}

inline unsigned long long published(const unsigned long long* word) {
    return *static_cast<const volatile unsigned long long*>(word);
}

// Of a block's candidates before a candidate, which would remove it.
struct alignas(16) Hits {
    unsigned int by[nms_words];
};

inline bool any(const Hits& hits, const unsigned int (&kept)[nms_words]) {
    unsigned int found = 0;
    for (int w = 0; w < nms_words; ++w) found |= hits.by[w] & kept[w];
    return found != 0;
}

inline bool all(const unsigned int (&words)[nms_words]) {
    unsigned int both = everyone;
    for (unsigned int word : words) both &= word;
    return both == everyone;
}

// A block's own candidates, by what the blocks near it decide: gone is whom a kept one removes, and kept whom all that
// would remove it have left. Each is published as soon as it is decided, so that decisions run through blocks as far as
// boxes depend on each other, and do not wait for whole blocks. `removed` holds who is gone by now, `dropped` will hold
// who is not kept. A warp; a lane has a candidate of each word, and looks at a word of the blocks near.
template <int near>
inline void settle(unsigned long long* words, const Hits (&hits)[near + 1][nms_block],
                   const unsigned int (&removed)[nms_words], unsigned int (&dropped)[nms_words], int block, int nears) {
    const int lane = threadIdx.x & 31;
    unsigned int gone[nms_words], kept[nms_words] = {};
    bool out[nms_words], stays[nms_words] = {};
    int open[nms_words] = {};  // of those that would remove the lane's own, in the blocks near, how many may
    for (int i = 0; i < nms_words; ++i) {
        gone[i] = removed[i];
        out[i] = (gone[i] >> lane & 1) != 0;
        for (int d = 1; d <= nears; ++d)
            for (unsigned int hit : hits[d][lane + 32 * i].by) open[i] += __popc(hit);
    }
    const unsigned long long* seen = words + nms_words * (block - nears) + lane;
    for (unsigned long long last = 0, told = 0;;) {
        for (bool more = true; more;) {
            more = false;
            for (int i = 0; i < nms_words; ++i) {
                const Hits& hit = hits[0][lane + 32 * i];
                out[i] = out[i] || any(hit, kept);
                unsigned int left = 0;
                for (int w = 0; w < nms_words; ++w) left |= hit.by[w] & ~gone[w];
                stays[i] = !out[i] && open[i] == 0 && left == 0;
            }
            for (int i = 0; i < nms_words; ++i) {
                const unsigned int now_gone = __ballot_sync(everyone, out[i]),
                                   now_kept = __ballot_sync(everyone, stays[i]);
                more = more || now_gone != gone[i] || now_kept != kept[i];
                gone[i] = now_gone;
                kept[i] = now_kept;
            }
        }
        unsigned long long mine = 0;
        bool done = true;
        for (int i = 0; i < nms_words; ++i) {
            const unsigned int decided = gone[i] | kept[i];
            if (lane == i) mine = static_cast<unsigned long long>(decided) << 32 | kept[i];
            done = done && decided == everyone;
        }
        if (mine != told) *static_cast<volatile unsigned long long*>(words + nms_words * block + lane) = mine;
        told = mine;
        if (done) break;

        const unsigned long long word = lane < nms_words * nears ? published(seen) : 0;
        const unsigned int fresh = static_cast<unsigned int>((word & ~last) >> 32);
        last = word;
        for (unsigned int news = __ballot_sync(everyone, fresh != 0); news != 0; news &= news - 1) {
            const int from = __ffs(static_cast<int>(news)) - 1, d = nears - from / nms_words;
            const unsigned int decided = __shfl_sync(everyone, fresh, from),
                               remain = decided & __shfl_sync(everyone, static_cast<unsigned int>(word), from);
            for (int i = 0; i < nms_words; ++i) {
                const unsigned int hit = hits[d][lane + 32 * i].by[from % nms_words];
                out[i] = out[i] || (hit & remain) != 0;
                open[i] -= __popc(hit & decided & ~remain);
            }
        }
    }
    for (int i = 0; i < nms_words; ++i)
        if (lane == i) dropped[i] = ~kept[i];
}

// A block decides which of 64 candidates are kept. Those kept by the blocks before it, of the same class, it tests as
// these are done; the ones nearest it it follows bit by bit (`settle`); it publishes its own: whether each is decided,
// and whether it is kept. The last block of a sample to be done writes the sample's result. Blocks take their numbers
// as they begin, so that whom they wait for runs already. No N x N memory: N^2 / 8 bytes would be 1.25 GB for 100,000
// boxes. Four blocks a multiprocessor: of its own accord the compiler makes room for five on sm_100, and spills; two of
// rotated boxes, whose overlap takes twice the registers. Grid: (blocks x samples).
template <class R>
__global__ void __launch_bounds__(nms_threads, is_same_v<R, Rotated> ? 2 : 4) nms(const __grid_constant__ Nms args) {
    __shared__ Candidate<R> own[nms_block], rival[nms_threads];
    __shared__ int rival_at[nms_threads];
    __shared__ Hits hits[nms_near<R> + 1][nms_block];
    __shared__ unsigned int removed[nms_words], dropped[nms_words];
    __shared__ int ready[nms_warps], ticket;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    wait_for_previous();
    if (threadIdx.x == 0) ticket = atomicAdd(args.state, 1);
    if (threadIdx.x < nms_words) removed[threadIdx.x] = 0;
    __syncthreads();

    const int samples = static_cast<int>(args.samples), block = ticket / samples, n = ticket - block * samples,
              blocks = nms_blocks(args);
    const int base = block * nms_block;
    const Candidate<R>* sorted =
        static_cast<const Candidate<R>*>(args.candidates) + static_cast<long long>(n) * args.count;
    unsigned long long* words = args.published + static_cast<long long>(n) * blocks * nms_words;
    if (threadIdx.x < nms_block) own[threadIdx.x] = candidate_at(sorted, base + threadIdx.x, args.count);
    __syncthreads();

    // Who would remove whom in this block, and from the blocks near it.
    const int first = own[0].start / nms_block;
    for (int d = 0; d <= nms_near<R> && block - d >= first; ++d)
        for (int w = 0; w < nms_words; ++w) {
            const int position = base - d * nms_block + 32 * w + lane;
            const Candidate<R> other = candidate_at(sorted, position, args.count);
            for (int i = warp; i < nms_block; i += nms_warps) {
                const bool hit =
                    position < base + i && position >= own[i].start && suppresses(other, own[i], args.iou_threshold);
                const unsigned int word = __ballot_sync(everyone, hit);
                if (lane == 0) hits[d][i].by[w] = word;
            }
        }

    // The blocks further off.
    const int mine = threadIdx.x & (nms_block - 1), part = threadIdx.x / nms_block,
              limit = base - nms_near<R> * nms_block;
    const Candidate<R> candidate = own[mine];
    bool gone = candidate.index < 0;
    const unsigned int absent = __ballot_sync(everyone, gone);
    if (lane == 0) atomicOr(&removed[mine / 32], absent);
    __syncthreads();
    for (int at = first * nms_block; at < limit;) {
        const unsigned long long seen = at + 32 * warp < limit ? published(words + at / 32 + warp) : 0,
                                 word = __shfl_sync(everyone, seen, 0);
        if (lane == 0) ready[warp] = word >> 32 != everyone ? 0 : 1 + __popc(static_cast<unsigned int>(word));
        __syncthreads();
        int steps = 0, rivals = 0, slot = 0;
        for (; steps < nms_warps && ready[steps] > 0; ++steps) {
            if (steps < warp) slot += ready[steps] - 1;
            rivals += ready[steps] - 1;
        }
        if (warp < steps && (word >> lane & 1) != 0) {
            slot += __popc(static_cast<unsigned int>(word) & ((1u << lane) - 1));
            rival[slot] = sorted[at + 32 * warp + lane];
            rival_at[slot] = at + 32 * warp + lane;
        }
        if (steps == 0) __nanosleep(100);
        __syncthreads();
        for (int k = part; k < rivals; k += nms_threads / nms_block)
            if (!gone) gone = rival_at[k] >= candidate.start && suppresses(rival[k], candidate, args.iou_threshold);
        const unsigned int word_gone = __ballot_sync(everyone, gone);
        if (lane == 0) atomicOr(&removed[mine / 32], word_gone);
        __syncthreads();
        gone = (removed[mine / 32] >> lane & 1) != 0;
        if (all(removed)) break;
        at += 32 * steps;
    }
    __syncthreads();

    if (warp == 0) settle<nms_near<R>>(words, hits, removed, dropped, block, min(nms_near<R>, block - first));
    __syncthreads();

    if (threadIdx.x < nms_block && base + threadIdx.x < args.count) {
        int* kept = args.kept + static_cast<long long>(n) * args.count;
        kept[candidate.place] = (dropped[warp] >> lane & 1) != 0 ? -1 : candidate.index;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) ticket = atomicAdd(args.state + 1 + n, 1);
    __syncthreads();
    if (ticket == blocks - 1) {
        __threadfence();
        write_kept(args, n);
    }
}

}  // namespace cuaug
