#pragma once

#include "detection/nms_boxes.cuh"

namespace cuaug {

// A box, as the kernels that compare all pairs of boxes load it.
template <class R>
struct alignas(16) Candidate {
    R left, top, right, bottom, area;
    unsigned long long score;  // of its sort key
    long long class_id;        // compared only if boxes overlap

    RankedBox<R> box() const { return {left, top, right, bottom, area, 0, 0, 0}; }
};

// An infinite area becomes NaN. A NaN of float32 arithmetic is 0x7fffffff on GPUs: its sign bit is 0, so that
// `OverlapBound` lets the pair pass. The NaN of float64 arithmetic has its sign bit set, but in float64 a box of
// infinite area has no IoU above a threshold.
template <class R>
inline Candidate<R> load_candidate(const NmsRecord& args, long long n, int i) {
    const NmsSortKey key = i < args.count ? make_sort_key(args, n, i, true) : padding_key();
    const RankedBox<R> box = make_ranked_box<R>(args, n, key, 0, 0);
    return {box.left, box.top, box.right, box.bottom, box.area + (box.area - box.area), key.score, key.class_id};
}

inline int high_bits(float value) { return __float_as_int(value); }
inline int high_bits(double value) { return __double2hiint(value); }

// Lower bound on the intersection of two boxes with IoU above t: t / (1 + t) times the sum of their areas, reduced by
// more than the rounding error so that no pair is lost. `suppresses` decides the pairs that remain.
template <class R>
struct OverlapBound {
    R factor, term_of_a;  // of the box `a` whose area the constructor takes

    OverlapBound(double threshold, R area)
        : factor(static_cast<R>(threshold / (1 + threshold) * (1 - 0x1p-18))),
          term_of_a(factor * area - static_cast<R>(1e-30)) {}

    // The sign bit is set if the boxes do not overlap or their intersection is below the bound. Additions and products
    // cost half of what comparisons do.
    int sign_if_below(const Candidate<R>& a, const Candidate<R>& b) const {
        const R width = fmin(a.right, b.right) - fmax(a.left, b.left),
                height = fmin(a.bottom, b.bottom) - fmax(a.top, b.top);
        return high_bits(width) | high_bits(height) | high_bits(width * height - (factor * b.area + term_of_a));
    }
};

}  // namespace cuaug
