#pragma once

#include "gpu/word_pixel.cuh"

// Fixed-point coordinates for affine bilinear warps. A pixel gets identical coordinates in every region, box, layout
// and batch, if its tile's source box fits into shared memory. `Nearest` does not use them: they are off by up to about
// 2^-19, and with a ratio such as 4:3 every row has coordinates of exactly one half, where this error selects another
// pixel.

namespace cuaug {

// A point of a box of at most 256 x 256 pixels: 8 bits of pixel, 24 bits of fraction.
struct FixedPoint {
    Word x;
    Word y;
};

// v * 2^24 rounded, modulo 2^32, for v within 2^27: the last bit of a double near 1.5 * 2^28 stands for 2^-24.
inline Word to_fixed(double v) { return static_cast<Word>(__double2loint(v + 402653184.0)); }

// Whether all coordinates of a tile are within the limit of `to_fixed`.
template <class TileMap>
inline bool fits_fixed_point(const TileMap& local) {
    return abs(local.base_x) < 1 << 26 && abs(local.base_y) < 1 << 26;
}

// The source coordinates of a thread's pixels, counted from the first pixel of the source box.
struct FixedStepper {
    FixedPoint right;   // step to the next column
    FixedPoint offset;  // from the start of a band to the tile's first column, in the thread's row of the band
    const FixedPoint* band_starts;

    FixedPoint band_start(int band) const { return band_starts[band]; }

    FixedPoint at(int x, const FixedPoint& start) const {
        Word u = right.x * x + (start.x + offset.x), v = right.y * x + (start.y + offset.y);
        asm("" : "+r"(u), "+r"(v));  // otherwise the compiler computes both twice, once for the weights
        return {u, v};
    }
};

// The column from which the coordinates of a region at `left` are counted: a multiple of the widest region's width, so
// that a pixel's coordinates do not depend on the width of its region.
inline int row_start_column(int left) { return left & ~63; }

// The source coordinates at which the bands (four rows each) of an output region begin, and the steps to the next
// column and row. The tiles of a region share them.
template <int Bands>
struct FixedRowStarts {
    FixedPoint right, down;
    FixedPoint band_starts[Bands + 9];  // longer than `Bands`: threads load the start of their next band early

    // For `height` rows. Called by all lanes of a warp; each computes one or two bands. `rounding` is added to all
    // coordinates.
    template <class Matrix>
    void compute(const Matrix& m, int left, int top, int height, double rounding, int lane) {
        auto compute_start = [&](int band) {
            const int y = top + 4 * band;
            band_starts[band] = {to_fixed(fma(m.b, y, fma(m.a, left, m.c)) + rounding),
                                 to_fixed(fma(m.e, y, fma(m.d, left, m.f)) + rounding)};
        };
        compute_start(lane);
        if (Bands > 32 && height > 128) compute_start(lane + 32);
        right = {to_fixed(m.a), to_fixed(m.d)};
        down = {to_fixed(m.b), to_fixed(m.e)};
    }

    // For a thread that has row `lane_row` of each band. The tile begins at row `first_row` of the region, a multiple
    // of four, and at `column`, counted from `row_start_column`. (box_x, box_y) is the first pixel of the source box.
    FixedStepper stepper(int column, int first_row, int lane_row, int box_x, int box_y) const {
        auto offset = [&](Word right, Word down, int box) {
            return right * column + down * lane_row - (static_cast<Word>(box) << 24);
        };
        return {right, {offset(right.x, down.x, box_x), offset(right.y, down.y, box_y)}, band_starts + first_row / 4};
    }
};

// The address of the pixel above and left of a point, in a box that begins at `corner`. `step`: bytes per pixel;
// `pitch`: bytes per row.
inline Word address_of(const FixedPoint& p, Word step, Word pitch, Word corner) {
    return __dp2a_lo(pitch << 16 | step, __byte_perm(p.x, p.y, 0x0073), corner);
}

}  // namespace cuaug
