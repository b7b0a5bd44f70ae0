#pragma once

#include "ops/color.cuh"

namespace cuaug {

// Squares at the nodes of a grid become `value` (Chen et al. 2020).
template <class R, int K>
struct GridMask {
    static constexpr int sample_params = 4, channel_params = 1;
    static constexpr bool uses_position = true;
    // size of the grid's cells, row and column of a cell at which the image begins, size of the square in each cell
    R cell_size, top, left, square_size;
    R value[K];  // before `prepare`: in the images' range; after it: in 0..1

    static void prepare(R* params, R max_value) {
        // A table may hold any number: the cell size is a divisor, and the sum of an offset and a position is an int.
        for (int i = 0; i < 4; ++i) params[i] = fmin(fmax(params[i], R(i == 0 ? 1 : 0)), R(1 << 30));
        for (int k = 0; k < K; ++k) params[4 + k] /= max_value;
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const PixelContext<R>& context) const {
        const int cell = static_cast<int>(cell_size), y = (context.y + static_cast<int>(top)) % cell,
                  x = (context.x + static_cast<int>(left)) % cell;
        const bool hidden = x < static_cast<int>(square_size) && y < static_cast<int>(square_size);
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = hidden ? value[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
