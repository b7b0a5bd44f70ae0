#pragma once

#include "records/nms.cuh"
#include "../dispatch_dtype.hpp"

// As kernels/detection/nms.cu, on one thread a sample: what is kept of each class so far is tried on 64 candidates at a
// time, side by side.

namespace cuaug {

constexpr int lanes_wide = 64;

template <class R>
struct Lanes {
    R left[lanes_wide], top[lanes_wide], right[lanes_wide], bottom[lanes_wide], area[lanes_wide];
    ComputeType<R> gone[lanes_wide];  // 0 or 1: as wide as the rest, for the sake of vectors
};

template <class R>
inline void strike(Lanes<R>& lanes, const Candidate<R>& by, int from, double threshold) {
    const R limit = static_cast<R>(threshold);
    R unsure = 0;
    for (int i = from; i < lanes_wide; ++i) {
        const Candidate<R> other = {
            lanes.left[i], lanes.top[i], lanes.right[i], lanes.bottom[i], lanes.area[i], 0, 0, 0};
        const Verdict verdict = judged(by, other, limit);
        lanes.gone[i] = verdict.over ? R(1) : lanes.gone[i];
        unsure = verdict.unsure ? R(1) : unsure;
    }
    if (unsure == 0) return;
    for (int i = from; i < lanes_wide; ++i) {
        const Candidate<R> other = {
            lanes.left[i], lanes.top[i], lanes.right[i], lanes.bottom[i], lanes.area[i], 0, 0, 0};
        if (suppresses(by, other, threshold)) lanes.gone[i] = 1;
    }
}

template <class R>
inline bool all_gone(const Lanes<R>& lanes) {
    R sum = 0;
    for (int i = 0; i < lanes_wide; ++i) sum += lanes.gone[i];
    return sum == lanes_wide;
}

// The indices kept so far, by score. Once there are as many as asked for, what comes after the last of them can be left
// out.
struct Kept {
    int* index;  // [count]
    int most;
    int last;  // no place after this one counts
    int found = 0;

    void add(int place, int own) {
        index[place] = own;
        if (place > last) return;
        if (++found > most) {
            while (index[last] < 0) --last;
            --last, --found;
        }
        if (found == most)
            while (index[last] < 0) --last;
    }
};

// The candidates of one class, of which those kept gather at the front.
template <class R>
inline void suppress(Candidate<R>* candidates, int count, double threshold, Kept& kept) {
    Lanes<R> lanes;
    int found = 0;
    for (int first = 0; first < count && candidates[first].place <= kept.last; first += lanes_wide) {
        const int wide = count - first < lanes_wide ? count - first : lanes_wide;
        for (int i = 0; i < lanes_wide; ++i) {
            const Candidate<R> one = i < wide ? candidates[first + i] : no_candidate<R>();
            lanes.left[i] = one.left, lanes.top[i] = one.top, lanes.right[i] = one.right, lanes.bottom[i] = one.bottom;
            lanes.area[i] = one.area, lanes.gone[i] = one.index < 0;
        }
        for (int k = 0; k < found; ++k) {
            if (k % 16 == 0 && all_gone(lanes)) break;
            strike(lanes, candidates[k], 0, threshold);
        }
        for (int i = 0; i < wide; ++i) {
            if (lanes.gone[i] != 0) continue;
            const Candidate<R> one = candidates[first + i];
            kept.add(one.place, one.index);
            strike(lanes, one, i + 1, threshold);
            candidates[found++] = one;
        }
    }
}

inline void suppress(RotatedCandidate* candidates, int count, double threshold, Kept& kept) {
    int found = 0;
    for (int i = 0; i < count && candidates[i].place <= kept.last; ++i) {
        const RotatedCandidate one = candidates[i];
        bool gone = one.index < 0;
        for (int k = 0; k < found && !gone; ++k) gone = overlap(candidates[k].box, one.box) > threshold;
        if (gone) continue;
        kept.add(one.place, one.index);
        candidates[found++] = one;
    }
}

template <class C>
inline void nms_sample(const Nms& args, long long n) {
    C* candidates = static_cast<C*>(args.candidates) + n * args.count;
    Kept kept = {args.kept + n * args.count, args.most, args.count - 1};
    for (int place = 0; place < args.count; ++place) kept.index[place] = -1;
    for (int start = 0, end; start < args.count && args.most > 0; start = end) {
        for (end = start + 1; end < args.count && candidates[end].start == start; ++end) {}
        suppress(candidates + start, end - start, args.iou_threshold, kept);
    }
    int found = 0;
    for (int place = 0; place <= kept.last && found < args.most; ++place)
        if (kept.index[place] >= 0) write_index(args, args.out, n * args.most + found++, kept.index[place]);
    write_index(args, args.found, n, found);
    for (; found < args.most; ++found) write_index(args, args.out, n * args.most + found, -1);
}

void nms_task(const native::ImageCall& call, long long task, void*) {
    const Nms& args = *static_cast<const Nms*>(call.record);
    if (args.rotated)
        nms_sample<RotatedCandidate>(args, task);
    else if (call.source == dtype_of<float64>)
        nms_sample<Candidate<double>>(args, task);
    else
        nms_sample<Candidate<float>>(args, task);
}

}  // namespace cuaug
