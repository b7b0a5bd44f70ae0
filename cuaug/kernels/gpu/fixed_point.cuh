#pragma once

#include "gpu/word_pixel.cuh"

// Fixed-point coordinates for affine maps. A pixel gets identical coordinates in every region, box, layout and batch,
// if its tile's source box fits into shared memory. Not used for `Nearest`: coordinates are off by up to 2^-19, and a
// ratio such as 4:3 meets exact halves in every row.

namespace cuaug {

// A point of a box of at most 256 x 256 pixels: 8 bits of pixel, 24 bits of fraction.
struct FixedPoint {
    Word x;
    Word y;
};

// Rounded, modulo 2^32: the lowest 24 bits of a double near 1.5 * 2^28 are those of the fraction.
inline Word to_fixed(double v) { return static_cast<Word>(__double2loint(v + 402653184.0)); }

template <class TileMap>
inline bool fits_fixed_point(const TileMap& local) {
    return abs(local.base_x) < 1 << 26 && abs(local.base_y) < 1 << 26;
}

// Steps from one pixel of a box to others.
struct FixedStepper {
    FixedPoint right, offset;
    const FixedPoint* band_starts;

    // The source coordinates at the start of a band; `offset` leads from there to the thread's row of the band, in the
    // box.
    FixedPoint band_start(int band) const { return band_starts[band]; }

    FixedPoint at(int x, const FixedPoint& start) const {
        Word u = right.x * x + (start.x + offset.x), v = right.y * x + (start.y + offset.y);
        asm("" : "+r"(u), "+r"(v));  // or the compiler computes both twice, once for the weights
        return {u, v};
    }
};

// The column from which the coordinates of a region at `left` are counted: a multiple of the widest region's width, so
// that a pixel's coordinates do not depend on the width of its region.
inline int row_start_column(int left) { return left & ~63; }

// The source coordinates of every fourth row of an output region, where a band begins, and the step to the next column
// and row. All tiles count from these rows, wherever they begin.
template <int Bands>
struct FixedRowStarts {
    FixedPoint right, down;
    FixedPoint band_starts[Bands + 9];  // threads load the start of their next band early, also behind the last band

    // For `height` rows; called by all lanes of a warp, each computes one or two bands. `rounding` is added to all
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

    // For a thread of a tile that begins at row `first_row` of the region, a multiple of four. The thread has row
    // `lane_row` of each band, from a column on, which is counted from the column of the starts. (box_x, box_y) is the
    // first pixel of the source box.
    FixedStepper stepper(int column, int first_row, int lane_row, int box_x, int box_y) const {
        auto offset = [&](Word right, Word down, int box) {
            return right * column + down * lane_row - (static_cast<Word>(box) << 24);
        };
        return {right, {offset(right.x, down.x, box_x), offset(right.y, down.y, box_y)}, band_starts + first_row / 4};
    }
};

// The address of the pixel above and left of a point, in a box with these bytes per pixel and per row.
inline Word address_of(const FixedPoint& p, Word step, Word pitch, Word corner) {
    return __dp2a_lo(pitch << 16 | step, __byte_perm(p.x, p.y, 0x0073), corner);
}

}  // namespace cuaug
