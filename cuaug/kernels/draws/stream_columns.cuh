#pragma once

#include "draws/philox.cuh"

namespace cuaug {

// A stream as numbers of a table, for ops that draw at each pixel: pieces of 24 bits, which float32 holds, the lowest
// first.
template <class R>
struct StreamPieces {
    R seed[3], step[2], id[2], position;

    static unsigned long long whole(const R* piece, int count) {
        unsigned long long out = 0;
        for (int i = 0; i < count; ++i)
            out |= static_cast<unsigned long long>(static_cast<unsigned int>(piece[i])) << 24 * i;
        return out;
    }

    Stream stream() const {
        return {whole(seed, 3), whole(step, 2), whole(id, 2), static_cast<unsigned int>(position)};
    }
};

}  // namespace cuaug
