#pragma once

#include "records/warp_image.cuh"

// Which output region a block of `warp_image` makes. `_passes/grids.py` divides the output in the same way.

namespace cuaug {

// A region by number; computed from the record alone, without a read of memory. `lower` is 1 for the lower half of a
// halved region.
struct RegionIndex {
    unsigned int row, column, slice, n;
    int lower;
};

// A region, or its half, in pixels. `height` ends with the output, `rows` does not.
struct OutputRect {
    long long n;
    int t, first, left, top, width, height, rows;
};

// Regions of `Width` columns and K channels. `split_channels`: a frame has `channel_groups` slices, each of K channels.
// With raw staging the regions of a slice are consecutive, because neighbours share cache lines. Otherwise the narrow
// regions come last: they are less work, so the GPU drains in smaller pieces.
template <int K, int Width, bool split_channels, bool raw_staged, class Record>
struct RegionScheduler {
    const Record& args;
    int channel_groups;

    RegionIndex region_index() const {
        // Blocks beyond `whole_regions` make halves.
        const unsigned int beyond = blockIdx.x - min(blockIdx.x, args.whole_regions),
                           index = blockIdx.x - (beyond + 1) / 2;
        const unsigned int columns = static_cast<unsigned int>(args.out_width) / Width,
                           full_regions = columns * args.full_width.regions;
        unsigned int slice, row, column;
        if constexpr (raw_staged) {
            slice = args.per_slice(index);
            const unsigned int in_slice = index - slice * (full_regions + args.remainder.regions);
            const bool narrow = in_slice >= full_regions;
            row = narrow ? in_slice - full_regions : args.per_row(in_slice),
            column = narrow ? columns : in_slice - row * columns;
        } else {
            const unsigned int all_full =
                full_regions * channel_groups * args.frames * static_cast<unsigned int>(args.samples);
            const bool narrow = index >= all_full;
            const unsigned int line = narrow ? index - all_full : args.per_row(index);
            slice = args.per_slice(line), row = line - slice * args.full_width.regions,
            column = narrow ? columns : index - line * columns;
        }
        const unsigned int frame = split_channels ? slice / channel_groups : slice;
        return {row, column, slice, args.frames == 1 ? frame : frame / args.frames, static_cast<int>(beyond & 1)};
    }

    OutputRect output_rect(const RegionIndex& at) const {
        const unsigned int frame = split_channels ? at.slice / channel_groups : at.slice;
        const int left = at.column * Width, width = min(Width, args.out_width - left),
                  region_rows = width < Width ? args.remainder.region_rows : args.full_width.region_rows,
                  rows = region_rows >> (blockIdx.x >= args.whole_regions);
        const int top = at.row * region_rows + at.lower * rows;
        return {at.n,
                static_cast<int>(frame - at.n * args.frames),
                split_channels ? static_cast<int>(at.slice - frame * channel_groups) * K : 0,
                left,
                top,
                width,
                min(rows, args.out_height - top),
                rows};
    }
};

}  // namespace cuaug
