#pragma once

#include "../record.cuh"

// Which part of the result a block of `warp` makes, and whose it is. `_grids.py` cuts the result so.

namespace cuaug {

// What takes nothing from memory but the record: the region's row and column in its slice, the slice, the sample, and 1 if it is the lower half of the region.
struct Slot { unsigned int row, column, slice, n; int lower; };

// In pixels: where the region or its half begins, how much of it there is, and how many rows it would have at most.
struct Place { long long n; int t, first, left, top, width, height, rows; };

// Regions `Side` wide, of K channels each; `grouped`: of as many as a batch has, `groups` slices a frame. Those of a slice follow each other if narrow ones, twice as tall, are
// as much work as the wide ones that they share lines of memory with (`even`). Else narrow ones come after all others, as the GPU runs empty in smaller pieces.
template <int K, int Side, bool grouped, bool even, class Record>
struct Regions {
    const Record& args;
    int groups;

    Slot slot() const {
        // So it does by the last regions of all, which are made in halves.
        const unsigned int beyond = blockIdx.x - min(blockIdx.x, args.unhalved), index = blockIdx.x - (beyond + 1) / 2;
        const unsigned int across = static_cast<unsigned int>(args.out_width) / Side, wide = across * args.wide.down;
        const unsigned int before = even ? args.by_slice(index) : 0, rest = index - before * (wide + args.narrow.down);  // slices, and what is left of them
        const unsigned int all_wide = even ? wide : wide * groups * args.frames * static_cast<unsigned int>(args.samples);
        const bool narrow = rest >= all_wide;
        const unsigned int line = narrow ? rest - all_wide : args.by_across(rest), column = narrow ? across : rest - line * across;
        const unsigned int slice = even ? before : args.by_slice(line), row = even ? line : line - slice * args.wide.down, frame = grouped ? slice / groups : slice;
        return {row, column, slice, args.frames == 1 ? frame : frame / args.frames, static_cast<int>(beyond & 1)};
    }

    Place place(const Slot& at) const {
        const unsigned int frame = grouped ? at.slice / groups : at.slice;
        const int left = at.column * Side, whole = left + Side > args.out_width ? args.narrow.rows : args.wide.rows, rows = whole >> (blockIdx.x >= args.unhalved);
        const int top = at.row * whole + at.lower * rows;
        return {at.n, static_cast<int>(frame - at.n * args.frames), grouped ? static_cast<int>(at.slice - frame * groups) * K : 0, left, top,
                min(Side, args.out_width - left), min(rows, args.out_height - top), rows};
    }
};

}  // namespace cuaug
