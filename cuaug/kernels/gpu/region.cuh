#pragma once

#include "gpu/raw_stage.cuh"

// A region of the output, of which a block makes all pixels, and the tiles that it is cut into.

namespace cuaug {

// What the threads of a block share about their region.
template <class In, int K, class Out, class Ops>
struct alignas(16) Region {
    const In* in;         // the frame, at the first of the region's channels
    Out* out;             // the region's first pixel
    int in_row, out_row;  // strides; read from here the compiler knows that they are of 32 bits
    int bands;            // of four rows, so many the block makes at a time
    int left, top;
    int width;      // of the output
    int channels;   // from the first on
    int channel_group;      // of four channels, counted through the frames
    int is_identity;       // the ops have nothing to do for this sample
    Window window;  // if the border goes around one
    Stored<In, K> fill;
    ComputeType<In> params[Ops::param_count + 1];
};

// Some rows of the region, made from one box.
template <class Local, bool copied>
struct alignas(16) Tile {
    Local local;  // counted from the box's corner, or from the base where there is no box
    Box box;
    int first, end;
    conditional_t<copied, Slant, Int<0>> slant;
};

// Whether the box holds every pixel that `retouched` reads for a tile. Always so for samples that are not moved:
// `box_of` adds some slack, a pixel, around what it is asked for. A sample that is moved and retouched, which no plan
// asks for, is only moved.
template <class Local, bool copied>
inline bool holds_neighbours(const Tile<Local, copied>& tile, int region_left, int region_top, int width, int group) {
    const int left = region_left - tile.local.base_x, top = region_top + tile.first - tile.local.base_y;
    return left > 0 && top > 0 && left + ((width + 31) & ~31) < tile.box.across * group &&
           top + ((tile.end - tile.first + 3) & ~3) < tile.box.height;
}

// A region in so many tiles, each of which a lane tries, from this lane on.
struct Cut {
    int tiles, lane, share;  // 2^16 / tiles, rounded up
};

}  // namespace cuaug
