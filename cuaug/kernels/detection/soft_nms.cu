#include "detection/soft_nms_scores.cuh"
#include "detection/write_index.cuh"
#include "gpu/convert.cuh"
#include "gpu/reduce.cuh"

namespace cuaug {

constexpr int soft_nms_threads = 1024, soft_nms_warps = soft_nms_threads / 32;

// The score of a removed box, below every other.
inline double removed_score() { return -__hiloint2double(0x7ff00000, 0); }

// The boxes of a sample that decay others, in the order of their indices. Removed boxes have the score `removed_score`
// until `compact` drops them.
struct SoftBoxes {
    double *left, *top, *right, *bottom, *area, *score;
    int* index;
};

inline SoftBoxes soft_boxes(const SoftNmsRecord& args, long long n) {
    double* ptr = args.workspace + n * 6 * args.count;
    const long long step = args.count;
    return {ptr, ptr + step, ptr + 2 * step, ptr + 3 * step, ptr + 4 * step, ptr + 5 * step, args.index + n * step};
}

// A score, and the position of its box in SoftBoxes; positions increase with indices.
struct Best {
    double score;
    int position;
};

inline bool is_better(const Best& a, const Best& b) {
    return a.score > b.score || (a.score == b.score && a.position < b.position);
}

// The best box of all threads, and the sum of their numbers of remaining boxes.
struct BlockBest {
    Best best;
    int remaining;
};

inline BlockBest block_argmax(Best best, int remaining) {
    __shared__ Best warp_best[soft_nms_warps];
    __shared__ int warp_remaining[soft_nms_warps];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    auto reduce = [&] {
        for (int i = 16; i > 0; i /= 2) {
            const Best other = {__shfl_xor_sync(0xffffffffu, best.score, i),
                                __shfl_xor_sync(0xffffffffu, best.position, i)};
            if (is_better(other, best)) best = other;
            remaining += __shfl_xor_sync(0xffffffffu, remaining, i);
        }
    };
    reduce();
    __syncthreads();
    if (lane == 0) warp_best[warp] = best, warp_remaining[warp] = remaining;
    __syncthreads();
    best = warp_best[lane], remaining = warp_remaining[lane];
    reduce();
    return {best, remaining};
}

// Collects the boxes that decay others; returns how many.
inline int collect(const SoftNmsRecord& args, long long n, int box_count, const SoftBoxes& boxes) {
    int count = 0;
    for (int first = 0; first < box_count; first += soft_nms_threads) {
        const int i = first + threadIdx.x;
        const bool decays = i < box_count && role_of(args, n, i) == SoftNmsRole::decaying;
        const BlockRank rank = block_rank<soft_nms_warps>(decays);
        if (decays) {
            const long long offset = n * args.boxes.n_stride + i * args.boxes.k_stride;
            const int to = count + rank.before;
            const double left = read_number(args.boxes, offset),
                         top = read_number(args.boxes, offset + args.boxes.x_stride);
            const double right = read_number(args.boxes, offset + 2 * args.boxes.x_stride),
                         bottom = read_number(args.boxes, offset + 3 * args.boxes.x_stride);
            boxes.left[to] = left, boxes.top[to] = top, boxes.right[to] = right, boxes.bottom[to] = bottom;
            boxes.area[to] = (right - left) * (bottom - top), boxes.score[to] = score_of(args, n, i),
            boxes.index[to] = i;
        }
        count += rank.total;
    }
    __syncthreads();
    return count;
}

// Drops removed boxes; returns how many remain. A box moves to a position that has been read already.
inline int compact(const SoftBoxes& boxes, int count) {
    int remaining = 0;
    for (int first = 0; first < count; first += soft_nms_threads) {
        const int i = first + threadIdx.x;
        const bool stays = i < count && boxes.score[i] > removed_score();
        double value[6];
        int index = 0;
        if (stays) {
            const double loaded[6] = {boxes.left[i],   boxes.top[i],  boxes.right[i],
                                      boxes.bottom[i], boxes.area[i], boxes.score[i]};
            for (int j = 0; j < 6; ++j) value[j] = loaded[j];
            index = boxes.index[i];
        }
        const BlockRank rank = block_rank<soft_nms_warps>(stays);
        if (stays) {
            const int to = remaining + rank.before;
            boxes.left[to] = value[0], boxes.top[to] = value[1], boxes.right[to] = value[2],
            boxes.bottom[to] = value[3];
            boxes.area[to] = value[4], boxes.score[to] = value[5], boxes.index[to] = index;
        }
        remaining += rank.total;
    }
    __syncthreads();
    return remaining;
}

// The best of all remaining boxes; `remaining` is not computed.
inline BlockBest find_best(const SoftBoxes& boxes, int count) {
    Best best = {removed_score(), 0x7fffffff};
    for (int i = threadIdx.x; i < count; i += soft_nms_threads)
        if (is_better({boxes.score[i], i}, best)) best = {boxes.score[i], i};
    return block_argmax(best, 0);
}

// Decays the scores of all boxes by their IoU with the chosen one. Removes the chosen box, and those whose score falls
// to the threshold or below; finds the next best box on the way.
inline BlockBest decay(const SoftNmsRecord& args, const SoftBoxes& boxes, int count, int chosen, double left,
                       double top, double right, double bottom, double area) {
    Best best = {removed_score(), 0x7fffffff};
    int remaining = 0;
    for (int i = threadIdx.x; i < count; i += soft_nms_threads) {
        double score = boxes.score[i];
        if (!(score > removed_score())) continue;
        const double width = fmin(right, boxes.right[i]) - fmax(left, boxes.left[i]),
                     height = fmin(bottom, boxes.bottom[i]) - fmax(top, boxes.top[i]);
        const double intersection = width * height, iou = intersection / (area + boxes.area[i] - intersection);
        if (width > 0 && height > 0 && iou > 0) score *= decay_factor(args, iou);
        if (i == chosen || !(score > args.score_threshold)) score = removed_score();
        boxes.score[i] = score;
        if (!(score > removed_score())) continue;
        ++remaining;
        if (is_better({score, i}, best)) best = {score, i};
    }
    return block_argmax(best, remaining);
}

// Appends the boxes of SoftNmsRole::last, those with a NaN coordinate, and fills the rest of the output.
inline void write_rest(const SoftNmsRecord& args, long long n, int box_count, int written) {
    const long long row = n * args.max_output;
    for (int first = 0; first < box_count && written < args.max_output; first += soft_nms_threads) {
        const int i = first + threadIdx.x;
        const bool is_last = i < box_count && role_of(args, n, i) == SoftNmsRole::last;
        const BlockRank rank = block_rank<soft_nms_warps>(is_last);
        if (is_last && rank.before < args.max_output - written) {
            write_index(args, args.out, row + written + rank.before, i);
            write_score(args.scores, args.out_scores, row + written + rank.before, score_of(args, n, i));
        }
        written = min(written + rank.total, args.max_output);
    }
    if (threadIdx.x == 0) write_index(args, args.out_counts, n, written);
    for (int i = written + threadIdx.x; i < args.max_output; i += soft_nms_threads) {
        write_index(args, args.out, row + i, -1);
        write_score(args.scores, args.out_scores, row + i, 0);
    }
}

// One block per sample. A round returns one box: the threads decay all remaining boxes by it, and find the next one.
// The boxes of SoftNmsRole::last follow without rounds. Grid: (samples).
__global__ void __launch_bounds__(soft_nms_threads) soft_nms(const __grid_constant__ SoftNmsRecord args) {
    const long long n = blockIdx.x, row = n * args.max_output;
    const long long sample_box_count =
        args.counts.data == nullptr ? args.count : read_int(args.counts, n * args.counts.n_stride);
    const int box_count = static_cast<int>(max(min(sample_box_count, static_cast<long long>(args.count)), 0ll));
    const SoftBoxes boxes = soft_boxes(args, n);
    int count = collect(args, n, box_count, boxes), written = 0;

    BlockBest round = find_best(boxes, count);
    while (written < args.max_output && round.best.score > removed_score()) {
        const int chosen = round.best.position;
        const double left = boxes.left[chosen], top = boxes.top[chosen], right = boxes.right[chosen],
                     bottom = boxes.bottom[chosen], area = boxes.area[chosen];
        if (threadIdx.x == 0) {
            write_index(args, args.out, row + written, boxes.index[chosen]);
            write_score(args.scores, args.out_scores, row + written, round.best.score);
        }
        ++written;
        round = decay(args, boxes, count, chosen, left, top, right, bottom, area);
        if (count > soft_nms_threads && 4ll * round.remaining <= 3ll * count) {
            count = compact(boxes, count);
            round = find_best(boxes, count);
        }
    }
    write_rest(args, n, box_count, written);
}

}  // namespace cuaug
