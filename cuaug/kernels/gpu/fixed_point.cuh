#pragma once

#include "gpu/word_pixel.cuh"

// Fixed-point coordinates for affine maps. A pixel gets identical coordinates in every region, box, layout or batch
// whose source box fits into shared memory. Not used for `Nearest`: coordinates are off by up to 2^-19, and a ratio
// such as 4:3 meets exact halves in every row.

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
    FixedPoint right, begin;
    const FixedPoint* row;

    // The start of a band of four rows; `begin` leads from there to the thread's row of the band, in the box.
    FixedPoint row_at(int band) const { return row[band]; }

    FixedPoint at(int x, const FixedPoint& from) const {
        Word u = right.x * x + (from.x + begin.x), v = right.y * x + (from.y + begin.y);
        asm("" : "+r"(u), "+r"(v));  // or the compiler computes both twice, once for the weights
        return {u, v};
    }
};

// The column from which the coordinates of a region at `left` are counted: a multiple of the widest region's width, so
// that a pixel's coordinates do not depend on the width of its region.
inline int row_start_column(int left) { return left & ~63; }

// The source coordinates of every fourth row of an output region, and the step to the next column and row. All tiles
// count from these rows, wherever they begin.
template <int Bands>
struct FixedRowStarts {
    FixedPoint right, down, row[Bands + 9];  // and those that are loaded early

    // For `height` rows; called by all lanes of a warp, each computes one or two bands. `more` is added to all
    // coordinates.
    template <class Matrix>
    void compute(const Matrix& m, int left, int top, int height, double more, int lane) {
        auto begin = [&](int band) {
            const int y = top + 4 * band;
            row[band] = {to_fixed(fma(m.b, y, fma(m.a, left, m.c)) + more),
                         to_fixed(fma(m.e, y, fma(m.d, left, m.f)) + more)};
        };
        begin(lane);
        if (Bands > 32 && height > 128) begin(lane + 32);
        right = {to_fixed(m.a), to_fixed(m.d)};
        down = {to_fixed(m.b), to_fixed(m.e)};
    }

    // Steps in a box from a column and a row on; the row is `below` rows below a multiple of four.
    FixedStepper stepper(int column, int first, int below, int box_x, int box_y) const {
        auto begin = [&](Word right, Word down, int box) {
            return right * column + down * below - (static_cast<Word>(box) << 24);
        };
        return {right, {begin(right.x, down.x, box_x), begin(right.y, down.y, box_y)}, row + first / 4};
    }
};

// The address of the pixel above and left of a point, in a box with these bytes per pixel and per row.
inline Word address_of(const FixedPoint& p, Word step, Word pitch, Word corner) {
    return __dp2a_lo(pitch << 16 | step, __byte_perm(p.x, p.y, 0x0073), corner);
}

}  // namespace cuaug
