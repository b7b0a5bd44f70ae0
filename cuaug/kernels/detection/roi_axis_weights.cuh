#pragma once

#include "detection/roi_align_bins.cuh"
#include "gpu/reduce.cuh"

// Averages of unrotated regions, axis by axis: the average of a bin's sampling points is a weighted sum of pixels, and
// the weight of a pixel is the product of its weights along y and x. Forward, each bin has a list of pixels (AxisBins);
// backward, each pixel has a range of bins (AxisPixels).

namespace cuaug {

// Limits for one axis of a region, which is held in shared memory.
constexpr int max_bins = 64, max_weights = 256, max_pixels = 256;

// A pixel by its offset along one axis of the map, and its weight in a bin.
template <class R>
struct OffsetWeight {
    int offset;  // 32 bits: one instruction adds it to a pointer
    R weight;
};

inline bool offsets_fit_int32(int extent, long long stride) {
    return (stride < 0 ? -stride : stride) * extent < 1ll << 31;
}

// The bins of one axis: bin i is the sum of entries first[i] .. end[i] - 1.
template <class R>
struct AxisBins {
    OffsetWeight<R> entry[max_weights];
    int first[max_bins], end[max_bins];
    int used;  // entries; beyond max_weights: some are missing
};

// Calls `visit(PixelWeight)` for each pixel of a bin; a pixel that adjacent sampling points share comes once.
template <class R, class Visitor>
inline void for_each_pixel(const RoiAxis<R>& axis, int bin, int extent, const Visitor& visit) {
    const IndexRange range = points_between(axis, bin, R(-1), R(extent));
    PixelWeight<R> older = {-1, R(0)}, newer = {-1, R(0)};
    auto add = [&](int pixel, R weight) {
        if (weight == R(0)) return;
        if (pixel == newer.pixel)
            newer.weight += weight;
        else if (pixel == older.pixel)
            older.weight += weight;
        else {
            if (older.pixel >= 0) visit(older);
            older = newer, newer = {pixel, weight};
        }
    };
    for (long long i = range.first; i < range.end; ++i) {
        const Tap<R> tap = make_tap(point_coordinate(axis, bin, i), extent);
        if (!tap.is_inside) continue;
        add(tap.low, (R(1) - tap.high_weight) / axis.points);
        add(tap.high, tap.high_weight / axis.points);
    }
    if (older.pixel >= 0) visit(older);
    if (newer.pixel >= 0) visit(newer);
}

// All lanes of one warp: fills the entries of all bins and returns their number; beyond max_weights some are missing.
template <class R>
inline int fill_bins(const RoiAxis<R>& axis, int bin_count, int extent, long long stride, AxisBins<R>& bins) {
    int used = 0;
    for (int start = 0; start < bin_count && used <= max_weights; start += 32) {
        const int bin = start + threadIdx.x % 32;
        int count = 0;
        if (bin < bin_count)
            for_each_pixel(axis, bin, extent, [&](const PixelWeight<R>&) { count += count <= max_weights; });
        const ExclusiveSum sum = warp_exclusive_sum(count);
        int i = used + sum.before;
        used += sum.all;
        if (bin >= bin_count) continue;
        bins.first[bin] = i, bins.end[bin] = i + count;
        if (i + count > max_weights) continue;
        for_each_pixel(axis, bin, extent, [&](const PixelWeight<R>& pixel) {
            bins.entry[i++] = {static_cast<int>(pixel.pixel * stride), pixel.weight};
        });
    }
    return used;
}

// A pixel that contributes to `bins` bins from `bin` on; `first` is the index of the weight in the first bin.
struct PixelBinRange {
    int pixel, bin, bins, first;
};

// The pixels of one axis, in ascending order.
template <class R>
struct AxisPixels {
    PixelBinRange range[max_pixels];
    R weight[max_weights];
    int pixels, used;  // beyond max_pixels or max_weights: some are missing
};

// The weight of a pixel in a bin.
template <class R>
inline R weight_in_bin(const RoiAxis<R>& axis, int bin, int extent, int pixel) {
    const IndexRange points = points_between(axis, bin, R(pixel - 1), R(pixel + 1));
    R sum = 0;
    for (long long i = points.first; i < points.end; ++i)
        sum += tap_weight(make_tap(point_coordinate(axis, bin, i), extent), pixel);
    return sum == R(0) ? sum : sum / axis.points;
}

// All lanes of one warp: finds the pixels first .. end - 1 that contribute to a bin, as long as there is room.
template <class R>
inline void fill_pixels(const RoiAxis<R>& axis, int bins, int extent, int first, int end, AxisPixels<R>& pixels) {
    static_assert(max_weights + 32 * (max_weights + 1) < 1 << 16,
                  "the count of bins would overflow into that of pixels");
    int total = 0;  // pixels in the upper half, their bins in the lower
    for (int start = first; start < end && total >> 16 <= max_pixels && (total & 0xffff) <= max_weights; start += 32) {
        const int pixel = start + threadIdx.x % 32;
        int first_bin = 0, count = 0;
        if (pixel < end) {
            const IndexRange near = bins_between(axis, R(pixel - 1), R(pixel + 1), bins);
            for (int bin = static_cast<int>(near.first); bin < near.end; ++bin)
                if (weight_in_bin(axis, bin, extent, pixel) != R(0))
                    first_bin = count == 0 ? bin : first_bin, count = bin + 1 - first_bin;
        }
        const ExclusiveSum sum = warp_exclusive_sum(count == 0 ? 0 : 1 << 16 | min(count, max_weights + 1));
        const int before = total + sum.before, pixel_index = before >> 16, offset = before & 0xffff;
        total += sum.all;
        if (count == 0 || pixel_index >= max_pixels || offset + count > max_weights) continue;
        pixels.range[pixel_index] = {pixel, first_bin, count, offset};
        for (int i = 0; i < count; ++i) pixels.weight[offset + i] = weight_in_bin(axis, first_bin + i, extent, pixel);
    }
    if (threadIdx.x % 32 == 0) pixels.pixels = total >> 16, pixels.used = total & 0xffff;
}

}  // namespace cuaug
