#pragma once

#include "records/typed_array.cuh"

namespace cuaug {

// Features, pooled features, or the gradients of either; strides in elements.
struct FeatureMap {
    void* data;
    long long n_stride;
    long long c_stride;
    long long y_stride;
    long long x_stride;
};

// One level of a feature pyramid.
struct RoiLevel {
    FeatureMap values;     // [N, C, H, W]
    FeatureMap gradients;  // [N, C, H, W]: written by a backward pass; data null in a forward pass
    int height;
    int width;
    double scale;  // from coordinates of regions to pixels of this level
    // The least area, in the coordinates of regions, of a region that is pooled from this level and not from an
    // earlier one.
    double min_area;
};

constexpr int max_levels = 8;

// Pools the bins of regions of interest, or computes the gradients.
struct RoiRecord {
    RoiLevel level[max_levels];
    TypedArray rois;    // [K, 5]: sample, left, top, right, bottom; [K, 6]: sample, center x, y, width, height, degrees
    FeatureMap pooled;  // [K, C, out_height, out_width]: result of a forward pass; gradients that a backward pass reads
    long long count;    // K
    // Elements between the first channels of consecutive bins; 0: all bins pool the same channels. If it is not 0,
    // `values` of each level are a view of only the channels that the first bin pools. Always 0 in a backward pass.
    long long bin_stride;
    int levels;
    int samples;  // N
    int channels;
    int out_height;
    int out_width;
    int sampling_ratio;  // sampling points of a bin along each axis; below 1: about one for each pixel
    int aligned;         // whether pixel centers are at +0.5
    int rotated;
};

// The pixels of its level that a region may touch: rows top .. bottom - 1, columns left .. right - 1.
struct RegionBounds {
    int level, n, top, left, bottom, right;  // n is -1 if the region belongs to no sample
};

// The bins of a region (RoiAlignBins, RoiPoolBins or PsRoiPoolBins), as bytes: one thread computes them for a backward
// pass.
struct alignas(16) StoredBins {
    unsigned char bytes[112];
};

// Pooling point by point on a GPU. Max pooling has an optional second result: which sampling point of each bin is the
// greatest.
struct RoiArgmaxRecord : RoiRecord {
    FeatureMap argmax;          // [K, C, out_height, out_width]: sampling points as `pack_point` numbers them
                                // (detection/roi_by_point.cuh); -1: none. Data null: not requested
    long long argmax_is_int32;  // 1: int32, for rows and columns below 2^15, 16 bits each; 0: int64
};

// A deterministic backward pass on a GPU.
struct RoiBackwardRecord : RoiArgmaxRecord {
    RegionBounds* bounds;  // [K]
    StoredBins* bins;      // [K]
};

constexpr int roi_channel_group = 16;  // adjacent channels that a CPU works on at once

// Whether channels are the innermost axis in memory.
inline bool is_channels_last(const FeatureMap& map) {
    auto magnitude = [](long long stride) { return stride < 0 ? -stride : stride; };
    return magnitude(map.c_stride) < magnitude(map.x_stride) || (map.x_stride == 0 && map.c_stride == 1);
}

}  // namespace cuaug
