#pragma once

#include "../roi.cuh"

// Upright averages, axis by axis: the average of samples between two pixels each is a sum of pixels, whose weights along y and x are multiplied.

namespace cuaug {

constexpr int most_bins = 64, most_parts = 512;  // along an axis, of a region that is worked out in shared memory

// The bins of one axis: bin i is made of the parts first[i] .. end[i] - 1.
template <class R>
struct AxisParts {
    Part<R> part[most_parts];
    int first[most_bins], end[most_bins];
    int used;  // beyond most_parts: not all of them are here
};

// Calls `visit(pixel, weight)` for what one bin is made of; a pixel that neighbouring samples share comes once.
template <class R, class Visit>
inline void each_part(const RoiAxis<R>& axis, int bin, int extent, const Visit& visit) {
    const Span range = samples_between(axis, bin, R(-1), R(extent));
    Part<R> older = {-1, R(0)}, newer = {-1, R(0)};
    auto add = [&](int at, R weight) {
        if (weight == R(0)) return;
        if (at == newer.at) newer.weight += weight;
        else if (at == older.at) older.weight += weight;
        else {
            if (older.at >= 0) visit(older);
            older = newer, newer = {at, weight};
        }
    };
    for (long long i = range.first; i < range.last; ++i) {
        const Tap<R> found = tap(sample_at(axis, bin, i), extent);
        if (!found.inside) continue;
        add(found.low, (R(1) - found.share) / axis.samples);
        add(found.high, found.share / axis.samples);
    }
    if (older.at >= 0) visit(older);
    if (newer.at >= 0) visit(newer);
}

// A thread's share of the work: one bin. Where its parts begin depends on who comes first; their sum does not.
template <class R>
inline void find_parts(const RoiAxis<R>& axis, int bin, int extent, AxisParts<R>& parts) {
    int count = 0;
    each_part(axis, bin, extent, [&](const Part<R>&) { count += count <= most_parts; });
    int at = atomicAdd(&parts.used, count);
    parts.first[bin] = at, parts.end[bin] = at + count;
    if (at + count > most_parts) return;
    each_part(axis, bin, extent, [&](const Part<R>& part) { parts.part[at++] = part; });
}

}  // namespace cuaug
