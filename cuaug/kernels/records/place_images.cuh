#pragma once

#include "records/batch.cuh"

namespace cuaug {

// The part of an image that is copied, and where it lies in the result. The other pixels of the result get the fill.
struct ImagePlacement {
    const unsigned char* from;  // the part's first pixel
    unsigned char* to;          // the result, whose rows and planes have no gaps
    long long from_pitch;       // bytes from a row to the next
    long long from_plane;       // bytes from a plane to the next
    long long rows;             // of the part
    long long bytes;            // of a row of the part
    long long top;              // rows of the result above the part
    long long left;             // bytes of the result left of the part
    long long to_rows;          // of the result
    long long to_bytes;         // of a row of the result
};

// Places images in larger results, or cuts them, in one launch: images of any size, or all of a batch in the same way.
struct PlaceImagesRecord {
    const ImagePlacement* placements;  // [N], and `frames` is 1; null: `first` and the strides describe all images
    ImagePlacement first;
    long long from_n_stride;  // bytes from a sample to the next
    long long from_t_stride;  // bytes from a frame to the next
    long long to_n_stride;
    long long to_t_stride;
    Fill fill;
    int frames;          // of a sample
    int planes;          // of an image: its channels if it is planar, 1 if it is packed
    int pixel_channels;  // of a pixel: 1 if the image is planar, its channels if it is packed
    int unused;
};

inline ImagePlacement placement_of(const PlaceImagesRecord& record, long long n, long long t) {
    if (record.placements != nullptr) return record.placements[n];
    ImagePlacement placement = record.first;
    placement.from += n * record.from_n_stride + t * record.from_t_stride;
    placement.to += n * record.to_n_stride + t * record.to_t_stride;
    return placement;
}

}  // namespace cuaug
