#include "gpu/convert.cuh"
#include "nms_record.cuh"

namespace cuaug {

constexpr int nms_threads = 256, nms_warps = nms_threads / 32;
constexpr int nms_near = 2;  // blocks before a block's own: their overlaps are known before they have decided
constexpr unsigned int everyone = 0xffffffffu;

template <class R>
inline Candidate<R> candidate_at(const Candidate<R>* sorted, int position, int count) {
    return position < count ? sorted[position] : no_candidate<R>();
}

inline unsigned long long published(const unsigned long long* word) { return *static_cast<const volatile unsigned long long*>(word); }

inline unsigned int awaited(const unsigned long long* word) {
    unsigned long long found;
    while ((found = published(word)) == 0) {}
    return static_cast<unsigned int>(found);
}

// Writes a sample's indices in the order of their scores. All threads of a block.
inline void write_kept(const Nms& args, long long n) {
    __shared__ int sums[nms_warps];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const volatile int* kept = args.kept + n * args.count;
    const long long row = n * args.most;
    int total = 0;
    for (long long first = 0; first < args.count && total < args.most; first += 4 * nms_threads) {
        int index[4], own = 0;
        for (int j = 0; j < 4; ++j) {
            const long long place = first + 4 * threadIdx.x + j;
            index[j] = place < args.count ? kept[place] : -1;
            own += index[j] >= 0;
        }
        int sum = own;
        for (int i = 1; i < 32; i *= 2) {
            const int other = __shfl_up_sync(everyone, sum, i);
            if (lane >= i) sum += other;
        }
        if (lane == 31) sums[warp] = sum;
        __syncthreads();
        int to = total + sum - own;
        for (int w = 0; w < nms_warps; ++w) {
            if (w < warp) to += sums[w];
            total += sums[w];
        }
        for (int j = 0; j < 4; ++j)
            if (index[j] >= 0) {
                if (to < args.most) write_index(args, args.out, row + to, index[j]);
                ++to;
            }
        __syncthreads();
    }
    total = min(total, args.most);
    for (int i = total + threadIdx.x; i < args.most; i += nms_threads) write_index(args, args.out, row + i, -1);
    if (threadIdx.x == 0) write_index(args, args.found, n, total);
}

// A block decides which of 64 candidates are kept. Those kept by the blocks before it, of the same class, it tests as they become
// known; it publishes its own as a bit each; the last block of a sample to be done writes the sample's result. Blocks take their
// numbers as they begin, so that whom they wait for runs already. No N x N memory: N^2 / 8 bytes would be 1.25 GB for 100,000 boxes.
// Four blocks a multiprocessor: of its own accord the compiler makes room for five on sm_100, and spills; two of rotated boxes, whose
// overlap takes twice the registers. Grid: (blocks x samples).
template <class R>
__global__ void __launch_bounds__(nms_threads, Same<R, Rotated>::value ? 2 : 4) nms(const __grid_constant__ Nms args) {
    __shared__ Candidate<R> own[nms_block], rival[nms_threads];
    __shared__ int rival_at[nms_threads];
    __shared__ unsigned int hits[nms_near + 1][nms_block][2], removed[2];
    __shared__ int ready[nms_warps], ticket;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0) ticket = atomicAdd(args.state, 1);
    if (threadIdx.x < 2) removed[threadIdx.x] = 0;
    __syncthreads();

    const int samples = static_cast<int>(args.samples), block = ticket / samples, n = ticket - block * samples, blocks = nms_blocks(args);
    const int base = block * nms_block;
    const Candidate<R>* sorted = static_cast<const Candidate<R>*>(args.candidates) + static_cast<long long>(n) * args.count;
    unsigned long long* words = args.published + 2ll * n * blocks;
    if (threadIdx.x < nms_block) own[threadIdx.x] = candidate_at(sorted, base + threadIdx.x, args.count);
    __syncthreads();

    // Who would remove whom in this block, and from the blocks near it.
    const int first = own[0].start / nms_block;
    for (int d = 0; d <= nms_near; ++d)
        for (int half = 0; half < 2; ++half) {
            const int position = base - d * nms_block + 32 * half + lane;
            const Candidate<R> other = position >= 0 ? candidate_at(sorted, position, args.count) : no_candidate<R>();
            for (int i = warp; i < nms_block; i += nms_warps) {
                const bool hit = position < base + i && position >= own[i].start && suppresses(other, own[i], args.iou_threshold);
                const unsigned int word = __ballot_sync(everyone, hit);
                if (lane == 0) hits[d][i][half] = word;
            }
        }

    // The blocks further off.
    const int mine = threadIdx.x & (nms_block - 1), part = threadIdx.x / nms_block, limit = base - nms_near * nms_block;
    const Candidate<R> candidate = own[mine];
    bool gone = candidate.index < 0;
    const unsigned int absent = __ballot_sync(everyone, gone);
    if (lane == 0) atomicOr(&removed[warp & 1], absent);
    __syncthreads();
    for (int at = first * nms_block; at < limit;) {
        const unsigned long long seen = at + 32 * warp < limit ? published(words + at / 32 + warp) : 0, word = __shfl_sync(everyone, seen, 0);
        if (lane == 0) ready[warp] = word == 0 ? 0 : 1 + __popc(static_cast<unsigned int>(word));
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
        if (lane == 0) atomicOr(&removed[warp & 1], word_gone);
        __syncthreads();
        gone = (removed[warp & 1] >> lane & 1) != 0;
        if ((removed[0] & removed[1]) == everyone) break;
        at += 32 * steps;
    }
    __syncthreads();

    // The near ones, as they decide; then this block: whom nobody kept removes is kept, again until nothing changes, from the first on.
    if (warp == 0) {
        unsigned int hit[nms_near + 1][2][2];
        for (int d = 0; d <= nms_near; ++d)
            for (int i = 0; i < 2; ++i)
                for (int half = 0; half < 2; ++half) hit[d][i][half] = hits[d][lane + 32 * i][half];
        bool out[2] = {(removed[0] >> lane & 1) != 0, (removed[1] >> lane & 1) != 0};
        const bool done = (removed[0] & removed[1]) == everyone;
        for (int d = nms_near; d > 0; --d) {
            if (done || block - d < first) continue;
            const unsigned int low = awaited(words + 2 * (block - d)), high = awaited(words + 2 * (block - d) + 1);
            for (int i = 0; i < 2; ++i) out[i] = out[i] || ((hit[d][i][0] & low) | (hit[d][i][1] & high)) != 0;
        }
        unsigned int low = __ballot_sync(everyone, !out[0]), high = __ballot_sync(everyone, !out[1]);
        for (bool same = false; !same;) {
            const unsigned int next_low = __ballot_sync(everyone, !out[0] && (hit[0][0][0] & low) == 0);
            const unsigned int next_high = __ballot_sync(everyone, !out[1] && ((hit[0][1][0] & low) | (hit[0][1][1] & high)) == 0);
            same = next_low == low && next_high == high;
            low = next_low, high = next_high;
        }
        if (lane < 2) *static_cast<volatile unsigned long long*>(words + 2 * block + lane) = 1ull << 32 | (lane == 0 ? low : high);
        if (lane < 2) removed[lane] = lane == 0 ? ~low : ~high;
    }
    __syncthreads();

    if (threadIdx.x < nms_block && base + threadIdx.x < args.count) {
        int* kept = args.kept + static_cast<long long>(n) * args.count;
        kept[candidate.place] = (removed[warp] >> lane & 1) != 0 ? -1 : candidate.index;
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
