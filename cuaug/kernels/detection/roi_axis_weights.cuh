#pragma once

#include "detection/roi_bins.cuh"
#include "gpu/reduce.cuh"

// Upright averages, axis by axis: the average of samples between two pixels each is a sum of pixels, whose weights
// along y and x are multiplied. Forward a bin asks for its pixels (AxisParts), and on the way back a pixel for its bins
// (AxisPixels).

namespace cuaug {

// Along an axis, of a region that is worked out in shared memory.
constexpr int most_bins = 64, most_parts = 256, most_pixels = 256;

// A pixel by its offset along one axis of the map, and its weight in a bin.
template <class R>
struct PartAt {
    int offset;  // one instruction makes an address of it, as it would not of 64 bits
    R weight;
};

inline bool has_short_offsets(int extent, long long stride) {
    return (stride < 0 ? -stride : stride) * extent < 1ll << 31;
}

// The bins of one axis: bin i is made of the parts first[i] .. end[i] - 1.
template <class R>
struct AxisParts {
    PartAt<R> part[most_parts];
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
        if (at == newer.at)
            newer.weight += weight;
        else if (at == older.at)
            older.weight += weight;
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

// Of one warp, all lanes: finds the parts of all bins, and says how many there are; beyond most_parts some are missing.
template <class R>
inline int find_parts(const RoiAxis<R>& axis, int bins, int extent, long long stride, AxisParts<R>& parts) {
    int used = 0;
    for (int start = 0; start < bins && used <= most_parts; start += 32) {
        const int bin = start + threadIdx.x % 32;
        int count = 0;
        if (bin < bins) each_part(axis, bin, extent, [&](const Part<R>&) { count += count <= most_parts; });
        const ExclusiveSum place = warp_exclusive_sum(count);
        int at = used + place.before;
        used += place.all;
        if (bin >= bins) continue;
        parts.first[bin] = at, parts.end[bin] = at + count;
        if (at + count > most_parts) continue;
        each_part(axis, bin, extent,
                  [&](const Part<R>& part) { parts.part[at++] = {static_cast<int>(part.at * stride), part.weight}; });
    }
    return used;
}

// A pixel that has a part in the bins from `bin` on, and where their weights begin.
struct BinsOfPixel {
    int at, bin, bins, first;
};

// The pixels of one axis, in their order.
template <class R>
struct AxisPixels {
    BinsOfPixel pixel[most_pixels];
    R weight[most_parts];
    int pixels, used;  // beyond most_pixels or most_parts: not all of them are here
};

// What a pixel has of a bin.
template <class R>
inline R weight_of(const RoiAxis<R>& axis, int bin, int extent, int pixel) {
    const Span near = samples_between(axis, bin, R(pixel - 1), R(pixel + 1));
    R sum = 0;
    for (long long i = near.first; i < near.last; ++i) sum += share_of(tap(sample_at(axis, bin, i), extent), pixel);
    return sum == R(0) ? sum : sum / axis.samples;
}

// Of one warp, all lanes: looks at the pixels from `first` on, before `end`, as long as there is room.
template <class R>
inline void find_pixels(const RoiAxis<R>& axis, int bins, int extent, int first, int end, AxisPixels<R>& found) {
    static_assert(most_parts + 32 * (most_parts + 1) < 1 << 16, "bins would run into pixels");
    int all = 0;  // pixels in the upper half, their bins in the lower
    for (int start = first; start < end && all >> 16 <= most_pixels && (all & 0xffff) <= most_parts; start += 32) {
        const int at = start + threadIdx.x % 32;
        int low = 0, each = 0;
        if (at < end) {
            const Span near = bins_between(axis, R(at - 1), R(at + 1), bins);
            for (int bin = static_cast<int>(near.first); bin < near.last; ++bin)
                if (weight_of(axis, bin, extent, at) != R(0)) low = each == 0 ? bin : low, each = bin + 1 - low;
        }
        const ExclusiveSum place = warp_exclusive_sum(each == 0 ? 0 : 1 << 16 | min(each, most_parts + 1));
        const int sofar = all + place.before, slot = sofar >> 16, to = sofar & 0xffff;
        all += place.all;
        if (each == 0 || slot >= most_pixels || to + each > most_parts) continue;
        found.pixel[slot] = {at, low, each, to};
        for (int i = 0; i < each; ++i) found.weight[to + i] = weight_of(axis, low + i, extent, at);
    }
    if (threadIdx.x % 32 == 0) found.pixels = all >> 16, found.used = all & 0xffff;
}

}  // namespace cuaug
