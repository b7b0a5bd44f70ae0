#pragma once

#include "gpu/raw_stage.cuh"

// A region of the output, of which a block makes all pixels, and the tiles that it is cut into.

namespace cuaug {

// What the threads of a block share about their region.
template <class In, int K, class Out, class Ops>
struct alignas(16) OutputRegion {
    const In* in;         // the frame, at the first of the region's channels
    Out* out;             // the region's first pixel
    int in_row, out_row;  // strides; read from here the compiler knows that they are of 32 bits
    int bands;            // of four rows, so many the block makes at a time
    int left, top;
    int width;           // of the output
    int channels;        // from the first on
    int channel_group;   // of four channels, counted through the frames
    int is_identity;     // the ops have nothing to do for this sample
    ImageWindow window;  // if the border goes around one
    WordPixel<In, K> fill;
    ComputeType<In> params[Ops::param_count + 1];
};

// Some rows of the region, made from one box.
template <class TileMap, bool raw_staged>
struct alignas(16) Tile {
    TileMap map;  // counted from the box's corner, or from the base where there is no box
    SourceBox box;
    int first, end;
    conditional_t<raw_staged, NeededRows, Int<0>> needed_rows;
};

// Whether the box holds every pixel that `retouched` reads for a tile. Always so for samples that are not moved:
// `staged_box_of` adds some slack, a pixel, around what it is asked for. A sample that is moved and retouched, which no
// plan asks for, is only moved.
template <class TileMap, bool raw_staged>
inline bool holds_neighbours(const Tile<TileMap, raw_staged>& tile, int region_left, int region_top, int width,
                             int group) {
    const int left = region_left - tile.map.base_x, top = region_top + tile.first - tile.map.base_y;
    return left > 0 && top > 0 && left + ((width + 31) & ~31) < tile.box.groups * group &&
           top + ((tile.end - tile.first + 3) & ~3) < tile.box.height;
}

// A region in so many tiles, each of which a lane tries, from this lane on.
struct TileSplit {
    int tiles, lane, share;  // 2^16 / tiles, rounded up
};

}  // namespace cuaug
