#pragma once

#include "colour.cuh"

namespace cuaug {

// Squares at the nodes of a grid become `value` (Chen et al. 2020).
template <class R, int K>
struct MaskGrid {
    static constexpr int shared = 4, each = 1;
    static constexpr bool placed = true;
    R size, top, left, side;  // of the grid's cells, where its first one begins, and the side of the square in each
    R value[K];               // in the images' own range; then a share of white

    static void prepare(R* field, R white) {
        // A table may hold any number: pixels divide by the size, and add the others to their place.
        for (int i = 0; i < 4; ++i) field[i] = fmin(fmax(field[i], R(i == 0 ? 1 : 0)), R(1 << 30));
        for (int k = 0; k < K; ++k) field[4 + k] /= white;
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        const int cell = static_cast<int>(size), y = (where.y + static_cast<int>(top)) % cell,
                  x = (where.x + static_cast<int>(left)) % cell;
        const bool hidden = x < static_cast<int>(side) && y < static_cast<int>(side);
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = hidden ? value[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
