#pragma once

#include "detection/nms_boxes.cuh"
#include "detection/write_index.cuh"
#include "../dispatch_dtype.hpp"

// Non-maximum suppression as in kernels/detection/nms.cu, with one thread per sample. Each kept box of a class is
// tested against nms_batch boxes of the class at a time, with SIMD; rotated boxes are tested pair by pair.

namespace cuaug {

constexpr int nms_batch = 64;

template <class R>
struct CandidateBatch {
    R left[nms_batch], top[nms_batch], right[nms_batch], bottom[nms_batch], area[nms_batch];
    R is_removed[nms_batch];  // 0 or 1, in a type as wide as the coordinates, for SIMD

    RankedBox<R> box(int i) const { return {left[i], top[i], right[i], bottom[i], area[i], 0, 0, 0}; }
};

// Marks the boxes from `first` on that `suppressor` suppresses.
template <class R>
inline void mark_suppressed(CandidateBatch<R>& batch, const RankedBox<R>& suppressor, int first, double threshold) {
    const R limit = static_cast<R>(threshold);
    R uncertain = 0;
    for (int i = first; i < nms_batch; ++i) {
        const IouTest test = test_iou(suppressor, batch.box(i), limit);
        batch.is_removed[i] = test.above ? R(1) : batch.is_removed[i];
        uncertain = test.uncertain ? R(1) : uncertain;
    }
    if (uncertain == 0) return;
    for (int i = first; i < nms_batch; ++i)
        if (suppresses(suppressor, batch.box(i), threshold)) batch.is_removed[i] = 1;
}

template <class R>
inline bool all_removed(const CandidateBatch<R>& batch) {
    R sum = 0;
    for (int i = 0; i < nms_batch; ++i) sum += batch.is_removed[i];
    return sum == nms_batch;
}

// The indices of the boxes kept so far. Classes are processed one after the other, so a box of a later class may have a
// better score rank. Once `max_output` boxes are kept, only boxes that rank before the last of them need a decision.
struct KeptIndices {
    int* index_by_rank;  // [boxes of the sample]: index of the box of each score rank; -1: not kept
    int max_output;
    int last_rank;  // ranks after this one are not needed
    int kept_count = 0;

    // Keeps a box. From the `max_output`-th on, last_rank becomes the rank of the last box that is returned.
    void add(int score_rank, int box) {
        index_by_rank[score_rank] = box;
        if (score_rank > last_rank) return;
        if (++kept_count > max_output) {
            while (index_by_rank[last_rank] < 0) --last_rank;
            --last_rank, --kept_count;
        }
        if (kept_count == max_output)
            while (index_by_rank[last_rank] < 0) --last_rank;
    }
};

// Suppresses boxes of one class. A box whose index is -1 takes no part. The boxes that are kept are moved to the front.
template <class R>
inline void suppress(RankedBox<R>* boxes, int count, double threshold, KeptIndices& kept_indices) {
    CandidateBatch<R> batch;
    int kept_boxes = 0;
    for (int first = 0; first < count && boxes[first].score_rank <= kept_indices.last_rank; first += nms_batch) {
        const int batch_count = count - first < nms_batch ? count - first : nms_batch;
        for (int i = 0; i < nms_batch; ++i) {
            const RankedBox<R> box = i < batch_count ? boxes[first + i] : empty_box<R>();
            batch.left[i] = box.left, batch.top[i] = box.top, batch.right[i] = box.right, batch.bottom[i] = box.bottom;
            batch.area[i] = box.area, batch.is_removed[i] = box.index < 0;
        }
        for (int k = 0; k < kept_boxes; ++k) {
            if (k % 16 == 0 && all_removed(batch)) break;
            mark_suppressed(batch, boxes[k], 0, threshold);
        }
        for (int i = 0; i < batch_count; ++i) {
            if (batch.is_removed[i] != 0) continue;
            const RankedBox<R> box = boxes[first + i];
            kept_indices.add(box.score_rank, box.index);
            mark_suppressed(batch, box, i + 1, threshold);
            boxes[kept_boxes++] = box;
        }
    }
}

inline void suppress(RankedRotatedBox* boxes, int count, double threshold, KeptIndices& kept_indices) {
    int kept_boxes = 0;
    for (int i = 0; i < count && boxes[i].score_rank <= kept_indices.last_rank; ++i) {
        const RankedRotatedBox box = boxes[i];
        bool is_removed = box.index < 0;
        for (int k = 0; k < kept_boxes && !is_removed; ++k) is_removed = suppresses(boxes[k], box, threshold);
        if (is_removed) continue;
        kept_indices.add(box.score_rank, box.index);
        boxes[kept_boxes++] = box;
    }
}

template <class Box>
inline void nms_sample(const NmsRecord& args, long long n) {
    Box* boxes = static_cast<Box*>(args.ranked_boxes) + n * args.count;
    KeptIndices kept_indices = {args.kept + n * args.count, args.max_output, args.count - 1};
    for (int rank = 0; rank < args.count; ++rank) kept_indices.index_by_rank[rank] = -1;
    for (int begin = 0, end; begin < args.count && args.max_output > 0; begin = end) {
        for (end = begin + 1; end < args.count && boxes[end].class_begin == begin; ++end) {}
        suppress(boxes + begin, end - begin, args.iou_threshold, kept_indices);
    }
    int written = 0;
    for (int rank = 0; rank <= kept_indices.last_rank && written < args.max_output; ++rank)
        if (kept_indices.index_by_rank[rank] >= 0)
            write_index(args, args.out, n * args.max_output + written++, kept_indices.index_by_rank[rank]);
    write_index(args, args.out_counts, n, written);
    for (; written < args.max_output; ++written) write_index(args, args.out, n * args.max_output + written, -1);
}

void nms_task(const native::RecordCall& call, long long n) {
    const NmsRecord& args = *static_cast<const NmsRecord*>(call.record);
    if (args.rotated)
        nms_sample<RankedRotatedBox>(args, n);
    else if (call.in_dtype == dtype_of<float64>)
        nms_sample<RankedBox<double>>(args, n);
    else
        nms_sample<RankedBox<float>>(args, n);
}

}  // namespace cuaug
