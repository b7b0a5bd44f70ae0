#pragma once

#include "../stream_pieces.cuh"
#include "colour.cuh"

namespace cuaug {

// Squares of the image, each with the same probability, become `value`: of one pixel, dropout; of more, DeVries &
// Taylor's cutout, many times. Whether a square does is a function of the sample's stream and of the square alone,
// whatever the channel or the frame.
template <class R, int K>
struct DropCells {
    static constexpr int shared = 10, each = 1;
    static constexpr bool placed = true;
    R size, share;
    StreamPieces<R> pieces;
    R value[K];  // in the images' own range; then a share of white

    static void prepare(R* field, R white) {
        field[0] = fmin(fmax(field[0], R(1)), R(1 << 30));  // a table may hold any number, and pixels divide by it
        for (int k = 0; k < K; ++k) field[10 + k] /= white;
    }

    Pixel<R, K> operator()(const Pixel<R, K>& in, const Where<R>& where) const {
        const int side = static_cast<int>(size), across = (where.width + side - 1) / side;
        const Random4 random =
            pieces.stream().draw(static_cast<unsigned int>(where.y / side * across + where.x / side));
        const bool dropped = static_cast<R>(random.word[0] >> 8) < share * R(16777216);  // 24 bits, which float32 holds
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = dropped ? value[k] : in.c[k];
        return out;
    }
};

}  // namespace cuaug
