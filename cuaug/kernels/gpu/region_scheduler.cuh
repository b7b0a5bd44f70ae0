#pragma once

#include "records/record.cuh"

// Which part of the result a block of `warp` makes, and whose it is. `_grids.py` cuts the result so.

namespace cuaug {

// What takes nothing from memory but the record: the region's row and column in its slice, the slice, the sample, and 1
// if it is the lower half of the region.
struct Slot {
    unsigned int row, column, slice, n;
    int lower;
};

// In pixels: where the region or its half begins, how much of it there is, and how many rows it would have at most.
struct Place {
    long long n;
    int t, first, left, top, width, height, rows;
};

// Regions `Side` wide, of K channels each; `grouped`: of as many as a batch has, `groups` slices a frame. Of copied
// boxes a slice's regions follow each other, as they share lines of memory. Of others narrow ones, which are less work,
// come after all wide ones, as the GPU runs empty in smaller pieces.
template <int K, int Side, bool grouped, bool copied, class Record>
struct Regions {
    const Record& args;
    int groups;

    Slot slot() const {
        // And the last regions of all are made in halves.
        const unsigned int beyond = blockIdx.x - min(blockIdx.x, args.unhalved), index = blockIdx.x - (beyond + 1) / 2;
        const unsigned int across = static_cast<unsigned int>(args.out_width) / Side, wide = across * args.wide.down;
        unsigned int slice, row, column;
        if constexpr (copied) {
            slice = args.by_slice(index);
            const unsigned int rest = index - slice * (wide + args.narrow.down);
            const bool narrow = rest >= wide;
            row = narrow ? rest - wide : args.by_across(rest), column = narrow ? across : rest - row * across;
        } else {
            const unsigned int all_wide = wide * groups * args.frames * static_cast<unsigned int>(args.samples);
            const bool narrow = index >= all_wide;
            const unsigned int line = narrow ? index - all_wide : args.by_across(index);
            slice = args.by_slice(line), row = line - slice * args.wide.down,
            column = narrow ? across : index - line * across;
        }
        const unsigned int frame = grouped ? slice / groups : slice;
        return {row, column, slice, args.frames == 1 ? frame : frame / args.frames, static_cast<int>(beyond & 1)};
    }

    Place place(const Slot& at) const {
        const unsigned int frame = grouped ? at.slice / groups : at.slice;
        const int left = at.column * Side, width = min(Side, args.out_width - left),
                  whole = width < Side ? args.narrow.rows : args.wide.rows,
                  rows = whole >> (blockIdx.x >= args.unhalved);
        const int top = at.row * whole + at.lower * rows;
        return {at.n,
                static_cast<int>(frame - at.n * args.frames),
                grouped ? static_cast<int>(at.slice - frame * groups) * K : 0,
                left,
                top,
                width,
                min(rows, args.out_height - top),
                rows};
    }
};

}  // namespace cuaug
