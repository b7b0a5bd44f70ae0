#pragma once

#include "detection/soft_nms_scores.cuh"
#include "detection/write_index.cuh"
#include "../convert.hpp"
#include "../vector.hpp"

// Soft NMS with one thread per sample. Each round returns one box and decays the scores of the boxes that overlap it.

namespace cuaug {

// The boxes of a sample whose scores are above the threshold and may decay (`SoftNmsRole::decaying`), in the order of
// their indices. A removed box stays, with the score `removed_score`, until a quarter of the boxes is removed; the
// others are then moved together.
struct SoftBoxes {
    double *left, *top, *right, *bottom, *area, *score;
    int* index;
    int count;

    SoftBoxes(const SoftNmsRecord& args, long long n) : index(args.index + n * args.count), count(0) {
        left = args.workspace + n * 6 * args.count, top = left + args.count, right = top + args.count,
        bottom = right + args.count, area = bottom + args.count, score = area + args.count;
    }

    void add(const SoftNmsRecord& args, long long n, int i) {
        const long long offset = n * args.boxes.n_stride + i * args.boxes.k_stride;
        left[count] = read_number(args.boxes, offset),
        top[count] = read_number(args.boxes, offset + args.boxes.x_stride);
        right[count] = read_number(args.boxes, offset + 2 * args.boxes.x_stride),
        bottom[count] = read_number(args.boxes, offset + 3 * args.boxes.x_stride);
        area[count] = (right[count] - left[count]) * (bottom[count] - top[count]);
        score[count] = score_of(args, n, i), index[count] = i;
        ++count;
    }

    void move(int from, int to) {
        left[to] = left[from], top[to] = top[from], right[to] = right[from], bottom[to] = bottom[from];
        area[to] = area[from], score[to] = score[from], index[to] = index[from];
    }
};

constexpr double removed_score = -__builtin_huge_val();  // below every other score

// The position of the highest score, the first of equal ones; -1: all boxes are removed.
inline int argmax(const SoftBoxes& boxes) {
    double best = removed_score;
#pragma omp simd reduction(max : best)
    for (int i = 0; i < boxes.count; ++i) best = boxes.score[i] > best ? boxes.score[i] : best;
    for (int i = 0; i < boxes.count && best > removed_score; ++i)
        if (boxes.score[i] == best) return i;
    return -1;
}

// Removes the chosen box, decays the scores of the boxes that overlap it, and removes those that are then not above the
// threshold. Returns the number of boxes that remain. `ious`: workspace for a number per box.
inline int decay(const SoftNmsRecord& args, SoftBoxes& boxes, int chosen, double* ious) {
    const double left = boxes.left[chosen], top = boxes.top[chosen], right = boxes.right[chosen],
                 bottom = boxes.bottom[chosen], area = boxes.area[chosen];
    boxes.score[chosen] = removed_score;
    for (int i = 0; i < boxes.count; ++i) {
        const double width = fmin(right, boxes.right[i]) - fmax(left, boxes.left[i]),
                     height = fmin(bottom, boxes.bottom[i]) - fmax(top, boxes.top[i]);
        const double intersection = width * height, iou = intersection / (area + boxes.area[i] - intersection);
        ious[i] = ((width > 0) & (height > 0) & (iou > 0)) ? iou : 0.0;
    }
    int remaining = 0;
    for (int i = 0; i < boxes.count; ++i) {
        if (ious[i] > 0) boxes.score[i] *= decay_factor(args, ious[i]);
        if (!(boxes.score[i] > args.score_threshold)) boxes.score[i] = removed_score;
        remaining += boxes.score[i] > removed_score;
    }
    return remaining;
}

inline void soft_nms_sample(const SoftNmsRecord& args, long long n) {
    SoftBoxes boxes(args, n);
    const long long row = n * args.max_output;
    int written = 0;
    auto write = [&](int index, double score) {
        write_index(args, args.out, row + written, index);
        write_score(args.scores, args.out_scores, row + written++, score);
    };
    const long long sample_box_count =
        args.counts.data == nullptr ? args.count : read_int(args.counts, n * args.counts.n_stride);
    const int box_count = static_cast<int>(sample_box_count < 0            ? 0
                                           : sample_box_count < args.count ? sample_box_count
                                                                           : args.count);
    for (int i = 0; i < box_count; ++i)
        if (role_of(args, n, i) == SoftNmsRole::decaying) boxes.add(args, n, i);
    Vector<double> ious(boxes.count);
    for (int chosen; written < args.max_output && (chosen = argmax(boxes)) >= 0;) {
        write(boxes.index[chosen], boxes.score[chosen]);
        const int remaining = decay(args, boxes, chosen, ious.data());
        if (4ll * remaining > 3ll * boxes.count) continue;
        int count = 0;
        for (int i = 0; i < boxes.count; ++i)
            if (boxes.score[i] > removed_score) boxes.move(i, count++);
        boxes.count = count;
    }
    for (int i = 0; i < box_count && written < args.max_output; ++i)
        if (role_of(args, n, i) == SoftNmsRole::last) write(i, score_of(args, n, i));
    write_index(args, args.out_counts, n, written);
    while (written < args.max_output) write(-1, 0);
}

void soft_nms_task(const void* record, long long n) { soft_nms_sample(*static_cast<const SoftNmsRecord*>(record), n); }

}  // namespace cuaug
