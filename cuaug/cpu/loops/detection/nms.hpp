#pragma once

#include "detection/nms_boxes.cuh"
#include "../dispatch_dtype.hpp"

// The kernel nms.cu on a CPU, one thread per sample: the boxes of each class kept so far are tested against 64 boxes at
// a time with SIMD.

namespace cuaug {

constexpr int nms_batch = 64;

template <class R>
struct CandidateBatch {
    R left[nms_batch], top[nms_batch], right[nms_batch], bottom[nms_batch], area[nms_batch];
    ComputeType<R> removed[nms_batch];  // 0 or 1: as wide as the coordinates, for SIMD

    RankedBox<R> box(int i) const { return {left[i], top[i], right[i], bottom[i], area[i], 0, 0, 0}; }
};

// Marks the boxes from `first` on that `suppressor` suppresses.
template <class R>
inline void mark_suppressed(CandidateBatch<R>& batch, const RankedBox<R>& suppressor, int first, double threshold) {
    const R limit = static_cast<R>(threshold);
    R uncertain = 0;
    for (int i = first; i < nms_batch; ++i) {
        const IouTest test = test_iou(suppressor, batch.box(i), limit);
        batch.removed[i] = test.above ? R(1) : batch.removed[i];
        uncertain = test.uncertain ? R(1) : uncertain;
    }
    if (uncertain == 0) return;
    for (int i = first; i < nms_batch; ++i)
        if (suppresses(suppressor, batch.box(i), threshold)) batch.removed[i] = 1;
}

template <class R>
inline bool all_removed(const CandidateBatch<R>& batch) {
    R sum = 0;
    for (int i = 0; i < nms_batch; ++i) sum += batch.removed[i];
    return sum == nms_batch;
}

// The indices kept so far, by score. Once there are `max_output`, ranks after the last of them need no decision.
struct KeptIndices {
    int* index;  // [count]: by score rank; -1: not kept
    int max_output;
    int last_rank;  // ranks after this one are not needed
    int count = 0;

    void add(int score_rank, int box) {
        index[score_rank] = box;
        if (score_rank > last_rank) return;
        if (++count > max_output) {
            while (index[last_rank] < 0) --last_rank;
            --last_rank, --count;
        }
        if (count == max_output)
            while (index[last_rank] < 0) --last_rank;
    }
};

// Suppresses the boxes of one class. Kept boxes are moved to the front.
template <class R>
inline void suppress(RankedBox<R>* boxes, int count, double threshold, KeptIndices& kept) {
    CandidateBatch<R> batch;
    int kept_boxes = 0;
    for (int first = 0; first < count && boxes[first].score_rank <= kept.last_rank; first += nms_batch) {
        const int width = count - first < nms_batch ? count - first : nms_batch;
        for (int i = 0; i < nms_batch; ++i) {
            const RankedBox<R> box = i < width ? boxes[first + i] : empty_box<R>();
            batch.left[i] = box.left, batch.top[i] = box.top, batch.right[i] = box.right, batch.bottom[i] = box.bottom;
            batch.area[i] = box.area, batch.removed[i] = box.index < 0;
        }
        for (int k = 0; k < kept_boxes; ++k) {
            if (k % 16 == 0 && all_removed(batch)) break;
            mark_suppressed(batch, boxes[k], 0, threshold);
        }
        for (int i = 0; i < width; ++i) {
            if (batch.removed[i] != 0) continue;
            const RankedBox<R> box = boxes[first + i];
            kept.add(box.score_rank, box.index);
            mark_suppressed(batch, box, i + 1, threshold);
            boxes[kept_boxes++] = box;
        }
    }
}

inline void suppress(RankedRotatedBox* boxes, int count, double threshold, KeptIndices& kept) {
    int kept_boxes = 0;
    for (int i = 0; i < count && boxes[i].score_rank <= kept.last_rank; ++i) {
        const RankedRotatedBox box = boxes[i];
        bool removed = box.index < 0;
        for (int k = 0; k < kept_boxes && !removed; ++k) removed = iou(boxes[k].box, box.box) > threshold;
        if (removed) continue;
        kept.add(box.score_rank, box.index);
        boxes[kept_boxes++] = box;
    }
}

template <class Box>
inline void nms_sample(const NmsRecord& args, long long n) {
    Box* boxes = static_cast<Box*>(args.ranked_boxes) + n * args.count;
    KeptIndices kept = {args.kept + n * args.count, args.max_output, args.count - 1};
    for (int rank = 0; rank < args.count; ++rank) kept.index[rank] = -1;
    for (int begin = 0, end; begin < args.count && args.max_output > 0; begin = end) {
        for (end = begin + 1; end < args.count && boxes[end].class_begin == begin; ++end) {}
        suppress(boxes + begin, end - begin, args.iou_threshold, kept);
    }
    int written = 0;
    for (int rank = 0; rank <= kept.last_rank && written < args.max_output; ++rank)
        if (kept.index[rank] >= 0) write_index(args, args.out, n * args.max_output + written++, kept.index[rank]);
    write_index(args, args.out_counts, n, written);
    for (; written < args.max_output; ++written) write_index(args, args.out, n * args.max_output + written, -1);
}

void nms_task(const native::ImageCall& call, long long task, void*) {
    const NmsRecord& args = *static_cast<const NmsRecord*>(call.record);
    if (args.rotated)
        nms_sample<RankedRotatedBox>(args, task);
    else if (call.source == dtype_of<float64>)
        nms_sample<RankedBox<double>>(args, task);
    else
        nms_sample<RankedBox<float>>(args, task);
}

}  // namespace cuaug
