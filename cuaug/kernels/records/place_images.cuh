#pragma once

#include "records/batch.cuh"

namespace cuaug {

// A box of an image, and the result in which it lies. The result's pixels outside of the box get the fill.
struct ImagePlacement {
    const unsigned char* from;  // the box
    unsigned char* to;          // the result, whose rows and planes have no gaps
    long long from_pitch;       // bytes from a row to the next
    long long from_plane;       // bytes from a plane to the next
    long long rows;             // of the box
    long long bytes;            // of a row of the box
    long long top;              // rows of the result above the box
    long long left;             // bytes of the result left of the box
    long long to_rows;          // of the result
    long long to_bytes;         // of a row of the result
};

// Places images in larger results, or cuts them, in one launch: images of any size, or all of a batch in the same way.
struct PlaceImagesRecord {
    const ImagePlacement* placements;  // one for each image; null: `first` and the strides describe all
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
