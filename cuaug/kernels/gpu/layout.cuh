#pragma once

#include "../dtype.cuh"

// How the K channels of a batch lie in memory, as far as the code that moves them differs.

namespace cuaug {

struct Planar {};        // K = C; x stride 1
struct Packed {};        // K = C; c stride 1, x stride C
struct Strided {};       // anything else; C may exceed K

// A pixel in shared memory: one aligned word or vector where the dtype allows it.
template <class T, int K>
struct alignas(sizeof(T) == 1 ? 4 : sizeof(T) == 2 ? (K == 1 ? 2 : K == 2 ? 4 : 8) : sizeof(T)) Stored {
    T c[sizeof(T) <= 2 && K == 3 ? 4 : sizeof(T) == 1 ? 4 : K];
};

// Four adjacent elements, moved as one.
template <class T>
struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) Four {
    T v[4];
};

}  // namespace cuaug
