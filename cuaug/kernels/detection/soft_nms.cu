#include "gpu/convert.cuh"
#include "records/soft_nms.cuh"

namespace cuaug {

constexpr int soft_threads = 1024, soft_warps = soft_threads / 32;

// Below every score that takes part.
inline double gone() { return -__hiloint2double(0x7ff00000, 0); }

// The boxes that are left of a sample, in the order of their indices.
struct SoftBoxes {
    double *left, *top, *right, *bottom, *area, *score;
    int* index;
};

inline SoftBoxes soft_boxes(const SoftNms& args, long long n) {
    double* at = args.numbers + n * 6 * args.count;
    const long long step = args.count;
    return {at, at + step, at + 2 * step, at + 3 * step, at + 4 * step, at + 5 * step, args.index + n * step};
}

// A box's place and score; places rise with indices.
struct Best {
    double score;
    int place;
};

inline bool higher(const Best& a, const Best& b) {
    return a.score > b.score || (a.score == b.score && a.place < b.place);
}

// The best of all threads' own, and how many are left in all.
struct Round {
    Best best;
    int left;
};

inline Round settled(Best own, int left) {
    __shared__ Best bests[soft_warps];
    __shared__ int lefts[soft_warps];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    auto reduce = [&] {
        for (int i = 16; i > 0; i /= 2) {
            const Best other = {__shfl_xor_sync(0xffffffffu, own.score, i), __shfl_xor_sync(0xffffffffu, own.place, i)};
            if (higher(other, own)) own = other;
            left += __shfl_xor_sync(0xffffffffu, left, i);
        }
    };
    reduce();
    __syncthreads();
    if (lane == 0) bests[warp] = own, lefts[warp] = left;
    __syncthreads();
    own = bests[lane], left = lefts[lane];
    reduce();
    return {own, left};
}

// How many of the threads before this one count, and of all.
struct Rank {
    int before, total;
};

inline Rank rank_among(bool counts) {
    __shared__ int words[soft_warps];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const unsigned int word = __ballot_sync(0xffffffffu, counts);
    __syncthreads();
    if (lane == 0) words[warp] = __popc(word);
    __syncthreads();
    Rank rank = {__popc(word & ((1u << lane) - 1)), 0};
    for (int w = 0; w < soft_warps; ++w) {
        if (w < warp) rank.before += words[w];
        rank.total += words[w];
    }
    return rank;
}

// Lets go of what is gone; a piece moves down to where only pieces before it were.
inline int compacted(const SoftBoxes& boxes, int count) {
    int kept = 0;
    for (int first = 0; first < count; first += soft_threads) {
        const int i = first + threadIdx.x;
        const bool stays = i < count && boxes.score[i] > gone();
        double number[6];
        int index = 0;
        if (stays) {
            const double own[6] = {boxes.left[i],   boxes.top[i],  boxes.right[i],
                                   boxes.bottom[i], boxes.area[i], boxes.score[i]};
            for (int j = 0; j < 6; ++j) number[j] = own[j];
            index = boxes.index[i];
        }
        const Rank rank = rank_among(stays);
        if (stays) {
            const int to = kept + rank.before;
            boxes.left[to] = number[0], boxes.top[to] = number[1], boxes.right[to] = number[2],
            boxes.bottom[to] = number[3];
            boxes.area[to] = number[4], boxes.score[to] = number[5], boxes.index[to] = index;
        }
        kept += rank.total;
    }
    __syncthreads();
    return kept;
}

// The boxes that take part in full, and the best of a thread's own.
inline int gathered(const SoftNms& args, long long n, int take, const SoftBoxes& boxes) {
    int count = 0;
    for (int first = 0; first < take; first += soft_threads) {
        const int i = first + threadIdx.x;
        const bool full = i < take && part_of(args, n, i) == SoftPart::full;
        const Rank rank = rank_among(full);
        if (full) {
            const long long at = n * args.boxes.n + i * args.boxes.k;
            const int to = count + rank.before;
            const double left = read_number(args.boxes, at), top = read_number(args.boxes, at + args.boxes.x);
            const double right = read_number(args.boxes, at + 2 * args.boxes.x),
                         bottom = read_number(args.boxes, at + 3 * args.boxes.x);
            boxes.left[to] = left, boxes.top[to] = top, boxes.right[to] = right, boxes.bottom[to] = bottom;
            boxes.area[to] = (right - left) * (bottom - top), boxes.score[to] = score_of(args, n, i),
            boxes.index[to] = i;
        }
        count += rank.total;
    }
    __syncthreads();
    return count;
}

// A block has a sample: as many rounds as boxes are returned, in each of which the threads try all that are left on the
// box just chosen, and find the next one on the way. Grid: (samples).
__global__ void __launch_bounds__(soft_threads) soft_nms(const __grid_constant__ SoftNms args) {
    const long long n = blockIdx.x, row = n * args.most;
    const long long given = args.counts.data == nullptr ? args.count : read_whole(args.counts, n * args.counts.n);
    const int take = static_cast<int>(max(min(given, static_cast<long long>(args.count)), 0ll));
    const SoftBoxes boxes = soft_boxes(args, n);
    int count = gathered(args, n, take, boxes), found = 0;

    Best own = {gone(), 0x7fffffff};
    for (int i = threadIdx.x; i < count; i += soft_threads) {
        const Best other = {boxes.score[i], i};
        if (higher(other, own)) own = other;
    }
    Round round = settled(own, 0);
    while (found < args.most && round.best.score > gone()) {
        const int chosen = round.best.place;
        const double left = boxes.left[chosen], top = boxes.top[chosen], right = boxes.right[chosen],
                     bottom = boxes.bottom[chosen], area = boxes.area[chosen];
        if (threadIdx.x == 0) {
            write_index(args, args.out, row + found, boxes.index[chosen]);
            write_score(args.scores, args.decayed, row + found, round.best.score);
        }
        ++found;
        own = {gone(), 0x7fffffff};
        int left_over = 0;
        for (int i = threadIdx.x; i < count; i += soft_threads) {
            double score = boxes.score[i];
            if (!(score > gone())) continue;
            const double width = fmin(right, boxes.right[i]) - fmax(left, boxes.left[i]),
                         height = fmin(bottom, boxes.bottom[i]) - fmax(top, boxes.top[i]);
            const double both = width * height, iou = both / (area + boxes.area[i] - both);
            if (width > 0 && height > 0 && iou > 0) score *= kept_share(args, iou);
            if (i == chosen || !(score > args.score_threshold)) score = gone();
            boxes.score[i] = score;
            if (!(score > gone())) continue;
            ++left_over;
            if (higher({score, i}, own)) own = {score, i};
        }
        round = settled(own, left_over);
        if (count > soft_threads && 4ll * round.left <= 3ll * count) {
            count = compacted(boxes, count);
            own = {gone(), 0x7fffffff};
            for (int i = threadIdx.x; i < count; i += soft_threads)
                if (higher({boxes.score[i], i}, own)) own = {boxes.score[i], i};
            round = settled(own, 0);
        }
    }

    for (int first = 0; first < take && found < args.most; first += soft_threads) {
        const int i = first + threadIdx.x;
        const bool last = i < take && part_of(args, n, i) == SoftPart::last;
        const Rank rank = rank_among(last);
        if (last && rank.before < args.most - found) {
            write_index(args, args.out, row + found + rank.before, i);
            write_score(args.scores, args.decayed, row + found + rank.before, score_of(args, n, i));
        }
        found = min(found + rank.total, args.most);
    }
    if (threadIdx.x == 0) write_index(args, args.found, n, found);
    for (int i = found + threadIdx.x; i < args.most; i += soft_threads) {
        write_index(args, args.out, row + i, -1);
        write_score(args.scores, args.decayed, row + i, 0);
    }
}

}  // namespace cuaug
