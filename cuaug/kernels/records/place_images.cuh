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

// Places images of any size in larger results, in one launch.
struct PlaceImagesRecord {
    const ImagePlacement* placements;  // one for each image
    Fill fill;
    int planes;          // of an image: its channels if it is planar, 1 if it is packed
    int pixel_channels;  // of a pixel: 1 if the image is planar, its channels if it is packed
};

}  // namespace cuaug
