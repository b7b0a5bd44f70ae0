#pragma once

#include "../record.cuh"

// Which part of the result a block of `warp` makes, and whose it is. `_grids.py` cuts the result so.

namespace cuaug {

// What takes nothing from memory but the record: the region's row and column, the slice that it is of, the sample, and 1 if it is the lower half of the region.
struct Slot { unsigned int row, column, slice, n; int lower; };

// In pixels: where the region or its half begins, how much of it there is, and how many rows it would have at most.
struct Place { long long n; int t, first, left, top, width, height, rows; };

// Regions `Side` wide, of K channels each; `grouped`: of as many as a batch has, `groups` slices a frame.
template <int K, int Side, bool grouped, class Record>
struct Regions {
    const Record& args;
    int groups;

    Slot slot() const {
        const unsigned int whole = static_cast<unsigned int>(args.out_width) / Side, deep = args.down * groups * args.frames * static_cast<unsigned int>(args.samples);
        // The GPU runs empty in smaller pieces: regions that are the last of their rows, and narrower, come after all others, and the last of all in halves.
        const unsigned int beyond = blockIdx.x - min(blockIdx.x, args.unhalved), index = blockIdx.x - (beyond + 1) / 2;
        const bool last = index >= whole * deep;
        const unsigned int row = last ? index - whole * deep : args.by_whole(index), column = last ? whole : index - row * whole;
        const unsigned int slice = args.by_down(row), frame = grouped ? slice / groups : slice;
        return {row, column, slice, args.frames == 1 ? frame : frame / args.frames, static_cast<int>(beyond & 1)};
    }

    Place place(const Slot& at) const {
        const unsigned int frame = grouped ? at.slice / groups : at.slice;
        const bool halved = blockIdx.x >= args.unhalved;
        const int rows = args.region_rows >> halved, left = at.column * Side, top = (at.row - at.slice * args.down) * args.region_rows + at.lower * rows;
        return {at.n, static_cast<int>(frame - at.n * args.frames), grouped ? static_cast<int>(at.slice - frame * groups) * K : 0, left, top,
                min(Side, args.out_width - left), min(rows, args.out_height - top), rows};
    }
};

}  // namespace cuaug
