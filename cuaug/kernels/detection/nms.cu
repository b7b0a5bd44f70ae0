#include "detection/nms_output.cuh"
#include "gpu/convert.cuh"
#include "gpu/programmatic_launch.cuh"

namespace cuaug {

constexpr int nms_threads = 256, nms_warps = nms_threads / 32;

// Look-back distance: overlaps with this many preceding blocks are computed before those blocks have decided, so that
// each of their decisions is applied as soon as it is published. A longer distance lets more blocks decide side by
// side; at most 16, one lane for each word. The IoU of rotated boxes is too expensive to compute for boxes that another
// block then removes.
template <class R>
constexpr int lookback_blocks = is_same_v<R, Rotated> ? 2 : 8;

constexpr unsigned int full_warp = 0xffffffffu;

template <class R>
inline RankedBox<R> load_box(const RankedBox<R>* sorted, int position, int count) {
    return position < count ? sorted[position] : empty_box<R>();
}

inline unsigned long long load_decisions(const unsigned long long* word) {
    return *static_cast<const volatile unsigned long long*>(word);
}

// Which boxes of a block would suppress a box that they precede.
struct alignas(16) SuppressionMask {
    unsigned int by[nms_words];
};

inline bool any_kept(const SuppressionMask& mask, const unsigned int (&kept)[nms_words]) {
    unsigned int suppressors = 0;
    for (int w = 0; w < nms_words; ++w) suppressors |= mask.by[w] & kept[w];
    return suppressors != 0;
}

inline bool all_set(const unsigned int (&words)[nms_words]) {
    unsigned int common = full_warp;
    for (unsigned int word : words) common &= word;
    return common == full_warp;
}

// Applies the masks between the block's boxes until nothing changes. A lane has one box of each word, with its
// `is_removed` and its `unresolved_suppressors`: the number of look-back boxes that would suppress the box and are not
// removed yet. `removed` and `kept` are the same in all lanes. These are separate arrays: one struct of them stays in
// local memory, and 100,000 boxes take 5 % longer.
inline void resolve_within_block(unsigned int (&removed)[nms_words], unsigned int (&kept)[nms_words],
                                 bool (&is_removed)[nms_words], const int (&unresolved_suppressors)[nms_words],
                                 const SuppressionMask (&masks)[nms_block], int lane) {
    for (bool changed = true; changed;) {
        changed = false;
        bool is_kept[nms_words];
        for (int i = 0; i < nms_words; ++i) {
            const SuppressionMask& mask = masks[lane + 32 * i];
            is_removed[i] = is_removed[i] || any_kept(mask, kept);
            unsigned int not_removed = 0;
            for (int w = 0; w < nms_words; ++w) not_removed |= mask.by[w] & ~removed[w];
            is_kept[i] = !is_removed[i] && unresolved_suppressors[i] == 0 && not_removed == 0;
        }
        for (int i = 0; i < nms_words; ++i) {
            const unsigned int removed_lanes = __ballot_sync(full_warp, is_removed[i]),
                               kept_lanes = __ballot_sync(full_warp, is_kept[i]);
            changed = changed || removed_lanes != removed[i] || kept_lanes != kept[i];
            removed[i] = removed_lanes;
            kept[i] = kept_lanes;
        }
    }
}

// Resolves the block's 64 boxes in one warp. A box is removed once a kept box suppresses it, and kept once every box
// that would suppress it is removed. Each decision is published at once, so dependents need not wait for whole blocks.
// `removed_before`: the boxes removed so far. `not_kept`: the result. A lane polls one word of the look-back blocks.
template <int distance>
inline void resolve_block(unsigned long long* decisions, const SuppressionMask (&masks)[distance + 1][nms_block],
                          const unsigned int (&removed_before)[nms_words], unsigned int (&not_kept)[nms_words],
                          int block, int lookback) {
    const int lane = threadIdx.x & 31;
    unsigned int removed[nms_words], kept[nms_words] = {};
    bool is_removed[nms_words];
    int unresolved_suppressors[nms_words] = {};
    for (int i = 0; i < nms_words; ++i) {
        removed[i] = removed_before[i];
        is_removed[i] = (removed[i] >> lane & 1) != 0;
        for (int d = 1; d <= lookback; ++d)
            for (unsigned int mask : masks[d][lane + 32 * i].by) unresolved_suppressors[i] += __popc(mask);
    }
    const unsigned long long* polled = decisions + nms_words * (block - lookback) + lane;
    for (unsigned long long last = 0, published = 0;;) {
        resolve_within_block(removed, kept, is_removed, unresolved_suppressors, masks[0], lane);
        unsigned long long decision_word = 0;
        bool done = true;
        for (int i = 0; i < nms_words; ++i) {
            const unsigned int decided = removed[i] | kept[i];
            if (lane == i) decision_word = static_cast<unsigned long long>(decided) << 32 | kept[i];
            done = done && decided == full_warp;
        }
        if (decision_word != published)
            *static_cast<volatile unsigned long long*>(decisions + nms_words * block + lane) = decision_word;
        published = decision_word;
        if (done) break;

        const unsigned long long word = lane < nms_words * lookback ? load_decisions(polled) : 0;
        const unsigned int fresh = static_cast<unsigned int>((word & ~last) >> 32);
        last = word;
        for (unsigned int lanes = __ballot_sync(full_warp, fresh != 0); lanes != 0; lanes &= lanes - 1) {
            const int from = __ffs(static_cast<int>(lanes)) - 1, d = lookback - from / nms_words;
            const unsigned int decided = __shfl_sync(full_warp, fresh, from),
                               newly_kept = decided & __shfl_sync(full_warp, static_cast<unsigned int>(word), from);
            for (int i = 0; i < nms_words; ++i) {
                const unsigned int mask = masks[d][lane + 32 * i].by[from % nms_words];
                is_removed[i] = is_removed[i] || (mask & newly_kept) != 0;
                unresolved_suppressors[i] -= __popc(mask & decided & ~newly_kept);
            }
        }
    }
    for (int i = 0; i < nms_words; ++i)
        if (lane == i) not_kept[i] = ~kept[i];
}

// Which boxes of the block, and of the look-back blocks before it, would suppress which of the block's boxes.
template <class R>
inline void compute_masks(const NmsRecord& args, const RankedBox<R>* sorted,
                          const RankedBox<R> (&block_boxes)[nms_block],
                          SuppressionMask (&masks)[lookback_blocks<R> + 1][nms_block], int block, int first_block) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, base = block * nms_block;
    for (int d = 0; d <= lookback_blocks<R> && block - d >= first_block; ++d)
        for (int w = 0; w < nms_words; ++w) {
            const int position = base - d * nms_block + 32 * w + lane;
            const RankedBox<R> other = load_box(sorted, position, args.count);
            for (int i = warp; i < nms_block; i += nms_warps) {
                const bool is_suppressor = position < base + i && position >= block_boxes[i].class_begin &&
                                           suppresses(other, block_boxes[i], args.iou_threshold);
                const unsigned int word = __ballot_sync(full_warp, is_suppressor);
                if (lane == 0) masks[d][i].by[w] = word;
            }
        }
}

// Tests `box`, number `offset` of the block's boxes, against the kept boxes at positions `begin` .. `end` - 1, as soon
// as these are decided. A warp polls a word of decisions; up to eight words are used at a time, as many as come before
// the first that is not decided. Four threads share a box; each tests a quarter of the kept boxes.
template <class R>
inline void suppress_by_far_blocks(const NmsRecord& args, const RankedBox<R>* sorted,
                                   const unsigned long long* decisions, const RankedBox<R>& box, int offset, int begin,
                                   int end, unsigned int (&removed)[nms_words]) {
    __shared__ RankedBox<R> kept[nms_threads];
    __shared__ int kept_position[nms_threads];
    __shared__ int ready[nms_warps];  // 1 + how many boxes of a word are kept; 0: not decided yet
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, part = threadIdx.x / nms_block;
    bool is_removed = box.index < 0;
    const unsigned int absent = __ballot_sync(full_warp, is_removed);
    if (lane == 0) atomicOr(&removed[offset / 32], absent);
    __syncthreads();
    for (int position = begin; position < end;) {
        const unsigned long long polled =
                                     position + 32 * warp < end ? load_decisions(decisions + position / 32 + warp) : 0,
                                 word = __shfl_sync(full_warp, polled, 0);
        if (lane == 0) ready[warp] = word >> 32 != full_warp ? 0 : 1 + __popc(static_cast<unsigned int>(word));
        __syncthreads();
        int words = 0, count = 0, kept_index = 0;
        for (; words < nms_warps && ready[words] > 0; ++words) {
            if (words < warp) kept_index += ready[words] - 1;
            count += ready[words] - 1;
        }
        if (warp < words && (word >> lane & 1) != 0) {
            kept_index += __popc(static_cast<unsigned int>(word) & ((1u << lane) - 1));
            kept[kept_index] = sorted[position + 32 * warp + lane];
            kept_position[kept_index] = position + 32 * warp + lane;
        }
        if (words == 0) __nanosleep(100);
        __syncthreads();
        for (int k = part; k < count; k += nms_threads / nms_block)
            if (!is_removed)
                is_removed = kept_position[k] >= box.class_begin && suppresses(kept[k], box, args.iou_threshold);
        const unsigned int lanes = __ballot_sync(full_warp, is_removed);
        if (lane == 0) atomicOr(&removed[offset / 32], lanes);
        __syncthreads();
        is_removed = (removed[offset / 32] >> lane & 1) != 0;
        if (all_set(removed)) break;
        position += 32 * words;
    }
    __syncthreads();
}

// A block decides which of 64 boxes are kept. It tests them against the boxes kept by blocks before the look-back as
// soon as these have decided, applies each decision of the look-back blocks, and publishes its own decisions. The block
// that finishes last in its sample writes the sample's result. Blocks are numbered as they begin, so that the blocks a
// block waits for are running already. Memory is linear in the number of boxes: a bit for each pair would take 1.25 GB
// for 100,000 boxes. Four blocks on a multiprocessor leave 64 registers a thread, which suffice. The IoU of rotated
// boxes takes up to 125, so two blocks: without a bound some compilers stop at 80, and spill. Grid: (blocks x samples).
template <class R>
__global__ void __launch_bounds__(nms_threads, is_same_v<R, Rotated> ? 2 : 4)
    nms(const __grid_constant__ NmsRecord args) {
    __shared__ RankedBox<R> block_boxes[nms_block];
    __shared__ SuppressionMask masks[lookback_blocks<R> + 1][nms_block];
    __shared__ unsigned int removed[nms_words], not_kept[nms_words];
    __shared__ int ticket;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    wait_for_previous();
    if (threadIdx.x == 0) ticket = atomicAdd(args.block_counts, 1);
    if (threadIdx.x < nms_words) removed[threadIdx.x] = 0;
    __syncthreads();

    const int samples = static_cast<int>(args.samples), block = ticket / samples, n = ticket - block * samples,
              blocks = nms_blocks(args);
    const int base = block * nms_block;
    const RankedBox<R>* sorted =
        static_cast<const RankedBox<R>*>(args.ranked_boxes) + static_cast<long long>(n) * args.count;
    unsigned long long* decisions = args.decisions + static_cast<long long>(n) * blocks * nms_words;
    if (threadIdx.x < nms_block) block_boxes[threadIdx.x] = load_box(sorted, base + threadIdx.x, args.count);
    __syncthreads();

    const int first_block = block_boxes[0].class_begin / nms_block, offset = threadIdx.x & (nms_block - 1);
    compute_masks<R>(args, sorted, block_boxes, masks, block, first_block);
    const RankedBox<R> box = block_boxes[offset];
    suppress_by_far_blocks<R>(args, sorted, decisions, box, offset, first_block * nms_block,
                              base - lookback_blocks<R> * nms_block, removed);

    if (warp == 0)
        resolve_block<lookback_blocks<R>>(decisions, masks, removed, not_kept, block,
                                          min(lookback_blocks<R>, block - first_block));
    __syncthreads();

    if (threadIdx.x < nms_block && base + threadIdx.x < args.count) {
        int* kept = args.kept + static_cast<long long>(n) * args.count;
        kept[box.score_rank] = (not_kept[warp] >> lane & 1) != 0 ? -1 : box.index;
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x == 0) ticket = atomicAdd(args.block_counts + 1 + n, 1);
    __syncthreads();
    if (ticket == blocks - 1) {
        __threadfence();
        write_output(args, n);
    }
}

}  // namespace cuaug
