#pragma once

#include "records/nms.cuh"

namespace cuaug {

// What two boxes are compared by, where all pairs are.
template <class R>
struct alignas(16) Rival {
    R left, top, right, bottom, area;
    unsigned long long score;  // of its key
    long long group;           // compared where boxes overlap

    Candidate<R> box() const { return {left, top, right, bottom, area, 0, 0, 0}; }
};

// An infinite area becomes NaN, which has no sign in float32: `Least` lets it pass. No such pair of float64 is over a
// threshold.
template <class R>
inline Rival<R> rival_at(const Nms& args, long long n, int i) {
    const NmsKey key = i < args.count ? nms_key(args, n, i, true) : no_key();
    const Candidate<R> box = candidate<R>(args, n, key, 0, 0);
    return {box.left, box.top, box.right, box.bottom, box.area + (box.area - box.area), key.score, key.group};
}

inline int high_bits(float value) { return __float_as_int(value); }
inline int high_bits(double value) { return __double2hiint(value); }

// What the overlap of a box must at least be for an IoU beyond a threshold t: the share t / (1 + t) of both areas. It
// is taken a little smaller than rounding errors could make it, so that no pair is lost, and all that remain are
// decided by `suppresses`.
template <class R>
struct Least {
    R share, own;

    Least(double threshold, R area)
        : share(static_cast<R>(threshold / (1 + threshold) * (1 - 0x1p-18))),
          own(share * area - static_cast<R>(1e-30)) {}

    // The sign: whether it is less. Additions and products cost half of what comparisons do.
    int short_of(const Rival<R>& a, const Rival<R>& b) const {
        const R width = fmin(a.right, b.right) - fmax(a.left, b.left),
                height = fmin(a.bottom, b.bottom) - fmax(a.top, b.top);
        return high_bits(width) | high_bits(height) | high_bits(width * height - (share * b.area + own));
    }
};

}  // namespace cuaug
