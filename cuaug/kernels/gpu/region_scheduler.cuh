#pragma once

#include "records/warp_image.cuh"

// Which output region a block of `warp_image` makes. `_passes/grids.py` divides the output in the same way.

namespace cuaug {

// The indices of a region. They follow from the block index and the record, without a read of global memory. `lower` is
// 1 for the lower half of a halved region.
struct RegionIndex {
    unsigned int row, column, slice, n;
    int lower;
};

// A region, or half of one, in pixels. `width` and `height` are clipped to the output, `rows` is not.
struct OutputRect {
    long long n;
    int t, first_channel, left, top, width, height, rows;
};

// Finds the region of a block. Regions have `Width` columns, the narrow ones at the right edge fewer, and K channels.
// `split_channels`: a frame has `channel_groups` slices, each of K channels; otherwise a slice is a frame. With raw
// staging the regions of a slice are consecutive, because neighbours share cache lines. Otherwise all narrow regions
// come last: they are less work, so that the multiprocessors finish at more equal times. Their column then has as many
// regions as each column of full width.
template <int K, int Width, bool split_channels, bool raw_staged, class Record>
struct RegionScheduler {
    const Record& args;
    int channel_groups;

    RegionIndex region_index() const {
        // Blocks from `whole_regions` on make halves, and half_index counts them: an even one makes an upper half, the
        // odd one after it the lower half of the same region. For blocks before them it is 0.
        const unsigned int half_index = blockIdx.x - min(blockIdx.x, args.whole_regions),
                           index = blockIdx.x - (half_index + 1) / 2;
        const unsigned int columns = static_cast<unsigned int>(args.out_width) / Width,
                           slice_full_regions = columns * args.full_width.regions;
        unsigned int slice, row, column;
        if constexpr (raw_staged) {
            slice = args.slice_divisor.divide(index);
            const unsigned int in_slice = index - slice * (slice_full_regions + args.remainder.regions);
            const bool narrow = in_slice >= slice_full_regions;
            row = narrow ? in_slice - slice_full_regions : args.row_divisor.divide(in_slice),
            column = narrow ? columns : in_slice - row * columns;
        } else {
            const unsigned int batch_full_regions =
                slice_full_regions * channel_groups * args.frames * static_cast<unsigned int>(args.samples);
            const bool narrow = index >= batch_full_regions;
            const unsigned int batch_row = narrow ? index - batch_full_regions : args.row_divisor.divide(index);
            slice = args.slice_divisor.divide(batch_row), row = batch_row - slice * args.full_width.regions,
            column = narrow ? columns : index - batch_row * columns;
        }
        const unsigned int frame = split_channels ? slice / channel_groups : slice;
        return {row, column, slice, args.frames == 1 ? frame : frame / args.frames, static_cast<int>(half_index & 1)};
    }

    OutputRect output_rect(const RegionIndex& region) const {
        const unsigned int frame = split_channels ? region.slice / channel_groups : region.slice;
        const int left = region.column * Width, width = min(Width, args.out_width - left),
                  region_rows = width < Width ? args.remainder.region_rows : args.full_width.region_rows,
                  rows = region_rows >> (blockIdx.x >= args.whole_regions);
        const int top = region.row * region_rows + region.lower * rows;
        return {region.n,
                static_cast<int>(frame - region.n * args.frames),
                split_channels ? static_cast<int>(region.slice - frame * channel_groups) * K : 0,
                left,
                top,
                width,
                min(rows, args.out_height - top),
                rows};
    }
};

}  // namespace cuaug
