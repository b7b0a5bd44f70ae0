#pragma once

#include "records/typed_array.cuh"

namespace cuaug {

// Feature maps, what is pooled from them, or the gradients of either; strides in elements.
struct Maps {
    void* data;
    long long n;
    long long c;
    long long y;
    long long x;
};

// One level of a pyramid of feature maps.
struct PoolingLevel {
    Maps values;     // [N, C, H, W]
    Maps gradients;  // [N, C, H, W]: written by a backward pass; data null in a forward pass
    int height;
    int width;
    double scale;       // from the coordinates of the regions to pixels of this level
    double least_area;  // of the regions that belong here and not to a level before, in their own coordinates
};

constexpr int most_levels = 8;

// Regions of interest, each cut into bins. Mirrored by cuaug/_roi.py.
struct Pooling {
    PoolingLevel level[most_levels];
    TypedArray rois;  // [K, 5]: sample, left, top, right, bottom; [K, 6]: sample, centre x and y, width, height, degrees
    Maps
        pooled;  // [K, C, out_height, out_width]: written by a forward pass, and the gradients that a backward pass reads
    long long count;  // K
    int levels;
    int samples;  // N
    int channels;
    int out_height;
    int out_width;
    int sampling;  // samples of a bin along each axis; below 1: about one for each pixel
    int aligned;   // whether a pixel's centre lies at half its side
    int rotated;
};

// Where a region lies, in pixels of its level: rows top .. bottom - 1, columns left .. right - 1.
struct RegionBounds {
    int level, n, top, left, bottom, right;  // n: -1: of no sample
};

// A region as a pass back finds it, so that only one thread works it out: the shape of kernels/detection/roi_bins.cuh, as bytes.
struct alignas(16) RegionShape {
    unsigned char bytes[112];
};

// Pooling on a GPU that remembers which sample of each bin is the greatest. Mirrored by cuaug/_roi.py.
struct PoolingPlaces : Pooling {
    Maps
        places;  // [K, C, out_height, out_width]: detection/roi_by_sample.cuh's numbers of samples; -1: none. Data null: not asked for
    long long short_places;  // int, else long long: whether rows and columns are below 2^15
};

// A pass back on a GPU, pixel by pixel. Mirrored by cuaug/_roi.py.
struct PoolingBack : PoolingPlaces {
    RegionBounds* bounds;  // [K]
    RegionShape* shapes;   // [K]
};

constexpr int channel_group = 16;  // channels side by side that are worked on at once

// Whether channels are the innermost axis in memory.
inline bool channels_inside(const Maps& maps) {
    auto size = [](long long stride) { return stride < 0 ? -stride : stride; };
    return size(maps.c) < size(maps.x) || (maps.x == 0 && maps.c == 1);
}

}  // namespace cuaug
