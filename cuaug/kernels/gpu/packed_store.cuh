#pragma once

#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"

namespace cuaug {

// Whether the lanes of a warp exchange their pixels before they store them. For 16-bit elements this gains nothing.
template <class T, class Layout, int K>
constexpr bool stores_by_warps = is_same_v<Layout, Packed> && K == 3 && sizeof(T) == 4;

// Stores 128 adjacent packed pixels, four of each lane of a warp, through shared memory. A lane's four pixels are K
// adjacent vectors: if each lane stored its own, a store of the warp would write every K-th vector of its part of the
// row. Here it writes adjacent vectors.
template <class T, int K>
struct PackedWarpStore {
    FourElements<T> vectors[32 * K];

    // Called by all lanes. to: the warp's first pixel.
    void store(T* to, const FourElements<T> (&own)[K], int lane) {
        __syncwarp();
        for (int k = 0; k < K; ++k) vectors[K * lane + k] = own[k];
        __syncwarp();
        for (int k = 0; k < K; ++k) store_as(to + 4 * (32 * k + lane), vectors[32 * k + lane]);
    }
};

}  // namespace cuaug
