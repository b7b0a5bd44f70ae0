#pragma once

#include "draws/philox.cuh"

namespace cuaug {

// A PhiloxStream stored in columns of a parameter table, for ops that draw at each pixel. Columns are floating point,
// so its seed, step and id are stored as chunks of 24 bits, which float32 represents exactly; the lowest chunk comes
// first.
template <class R>
struct StreamColumns {
    R seed[3], step[2], id[2], position;

    static unsigned long long join_chunks(const R* chunk, int count) {
        unsigned long long joined = 0;
        for (int i = 0; i < count; ++i)
            joined |= static_cast<unsigned long long>(static_cast<unsigned int>(chunk[i])) << 24 * i;
        return joined;
    }

    PhiloxStream stream() const {
        return {join_chunks(seed, 3), join_chunks(step, 2), join_chunks(id, 2), static_cast<unsigned int>(position)};
    }
};

}  // namespace cuaug
