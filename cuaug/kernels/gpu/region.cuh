#pragma once

#include "gpu/raw_box.cuh"

// The output region of one thread block, divided into tiles.

namespace cuaug {

// What the threads of a block share about their output region.
template <class In, int K, class Out, class Ops>
struct alignas(16) OutputRegion {
    const In* in;                   // the frame, at the first of the region's channels
    Out* out;                       // the region's first pixel
    int in_y_stride, out_y_stride;  // 64 bits in the record; here the compiler knows that they fit 32 bits
    int band_step;                  // bands of four rows that the block makes at a time
    int left, top;
    int width;             // of the region, clipped to the output
    int channels;          // from the region's first to the last of the image
    int channel_group;     // index among the channel groups of all frames of the sample
    int ops_are_identity;  // no op is active for this sample
    ImageWindow window;    // for a border with a window
    WordPixel<In, K> fill;
    ComputeType<In> params[Ops::param_count + 1];
};

// Rows [first_row, end_row) of the region, sampled from one source box.
template <class TileMap, bool raw_staged>
struct alignas(16) Tile {
    TileMap map;  // relative to the box's first pixel, or to the map's base if there is no box
    SourceBox box;
    int first_row, end_row;
    conditional_t<raw_staged, NeededRows, Int<0>> needed_rows;
};

// Whether the box holds every pixel that `override_pixel` reads for a tile. It does if the sample's geometry is the
// identity: the slack of `staged_box_of` adds one pixel on the left and at the top, and `taps_after` adds one on the
// right and at the bottom. Recipes give no override to other samples; if a table does, it is ignored where the box does
// not hold the pixels.
template <class TileMap, bool raw_staged>
inline bool holds_neighbours(const Tile<TileMap, raw_staged>& tile, int region_left, int region_top, int width,
                             int group) {
    const int left = region_left - tile.map.base_x, top = region_top + tile.first_row - tile.map.base_y;
    return left > 0 && top > 0 && left + ((width + 31) & ~31) < tile.box.groups * group &&
           top + ((tile.end_row - tile.first_row + 3) & ~3) < tile.box.height;
}

// A division of the region into `tiles` tiles; lanes first_lane .. first_lane + tiles - 1 plan one tile each.
struct TileSplit {
    int tiles, first_lane;
    int inv_tiles;  // 2^16 / tiles, rounded up
};

}  // namespace cuaug
