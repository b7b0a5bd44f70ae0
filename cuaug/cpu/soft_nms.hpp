#pragma once

#include "../kernels/soft_nms_record.cuh"
#include "convert.hpp"
#include "list.hpp"

// One sample on one thread: as many rounds as boxes are returned, in each of which all that are left are tried.

namespace cuaug {

// The boxes that are left, in the order of their indices.
struct SoftBoxes {
    double *left, *top, *right, *bottom, *area, *score;
    int* index;
    int count;

    SoftBoxes(const SoftNms& args, long long n) : index(args.index + n * args.count), count(0) {
        double* at = args.numbers + n * 6 * args.count;
        left = at, top = at + args.count, right = top + args.count, bottom = right + args.count,
        area = bottom + args.count, score = area + args.count;
    }

    void add(const SoftNms& args, long long n, int i) {
        const long long at = n * args.boxes.n + i * args.boxes.k;
        left[count] = read_number(args.boxes, at), top[count] = read_number(args.boxes, at + args.boxes.x);
        right[count] = read_number(args.boxes, at + 2 * args.boxes.x),
        bottom[count] = read_number(args.boxes, at + 3 * args.boxes.x);
        area[count] = (right[count] - left[count]) * (bottom[count] - top[count]);
        score[count] = score_of(args, n, i), index[count] = i;
        ++count;
    }

    void move(int from, int to) {
        left[to] = left[from], top[to] = top[from], right[to] = right[from], bottom[to] = bottom[from];
        area[to] = area[from], score[to] = score[from], index[to] = index[from];
    }
};

constexpr double gone = -__builtin_huge_val();

// The place of the highest score, the first of equal ones; -1: all are gone.
inline int highest(const SoftBoxes& boxes) {
    double best = gone;
#pragma omp simd reduction(max : best)
    for (int i = 0; i < boxes.count; ++i) best = boxes.score[i] > best ? boxes.score[i] : best;
    for (int i = 0; i < boxes.count && best > gone; ++i)
        if (boxes.score[i] == best) return i;
    return -1;
}

// Lowers the scores of what overlaps one box, and lets go of those that have become too low; how many are left.
inline int decay(const SoftNms& args, SoftBoxes& boxes, int chosen, double* shared) {
    const double left = boxes.left[chosen], top = boxes.top[chosen], right = boxes.right[chosen],
                 bottom = boxes.bottom[chosen], area = boxes.area[chosen];
    boxes.score[chosen] = gone;
    for (int i = 0; i < boxes.count; ++i) {
        const double width = fmin(right, boxes.right[i]) - fmax(left, boxes.left[i]),
                     height = fmin(bottom, boxes.bottom[i]) - fmax(top, boxes.top[i]);
        const double both = width * height, iou = both / (area + boxes.area[i] - both);
        shared[i] = (width > 0) & (height > 0) & (iou > 0) ? iou : 0.0;
    }
    int left_over = 0;
    for (int i = 0; i < boxes.count; ++i) {
        if (shared[i] > 0) boxes.score[i] *= kept_share(args, shared[i]);
        if (!(boxes.score[i] > args.score_threshold)) boxes.score[i] = gone;
        left_over += boxes.score[i] > gone;
    }
    return left_over;
}

inline void soft_nms_sample(const SoftNms& args, long long n) {
    SoftBoxes boxes(args, n);
    const long long row = n * args.most;
    int found = 0;
    auto give = [&](int index, double score) {
        write_index(args, args.out, row + found, index);
        write_score(args.scores, args.decayed, row + found++, score);
    };
    const long long given = args.counts.data == nullptr ? args.count : read_whole(args.counts, n * args.counts.n);
    const int take = static_cast<int>(given < 0 ? 0 : given < args.count ? given : args.count);
    for (int i = 0; i < take; ++i)
        if (part_of(args, n, i) == SoftPart::full) boxes.add(args, n, i);
    List<double> shared(boxes.count);
    for (int chosen; found < args.most && (chosen = highest(boxes)) >= 0;) {
        give(boxes.index[chosen], boxes.score[chosen]);
        const int left = decay(args, boxes, chosen, shared.data());
        if (4 * left > 3 * boxes.count) continue;
        int kept = 0;
        for (int i = 0; i < boxes.count; ++i)
            if (boxes.score[i] > gone) boxes.move(i, kept++);
        boxes.count = kept;
    }
    for (int i = 0; i < take && found < args.most; ++i)
        if (part_of(args, n, i) == SoftPart::last) give(i, score_of(args, n, i));
    write_index(args, args.found, n, found);
    while (found < args.most) give(-1, 0);
}

void soft_nms_task(const void* record, long long n) { soft_nms_sample(*static_cast<const SoftNms*>(record), n); }

}  // namespace cuaug
