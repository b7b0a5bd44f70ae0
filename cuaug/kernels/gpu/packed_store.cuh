#pragma once

#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"

// Packed pixels of three 32-bit elements, stored by the lanes of a warp together. If each lane stored its own pixels, a
// store of the warp would write a part of every sector. Instead the lanes exchange pixels through shared memory and
// write adjacent vectors of four elements. For 16-bit elements this gains nothing.

namespace cuaug {

template <class T, class Layout, int K>
constexpr bool stores_by_warps = is_same_v<Layout, Packed> && K == 3 && sizeof(T) == 4;

// Stores four adjacent pixels of each lane. In memory the next lane's pixels mostly follow them. An object of this type
// is in shared memory and serves one warp.
template <class T, int K>
struct PackedWarpStore {
    FourElements<T> vectors[32 * K];
    long long offset[K][32];  // from a lane's first element to the k-th vector that it stores; here to save registers

    // Called by all lanes, once: from one store to the next, the pixels of all lanes move by the same number of
    // elements. first: index of the lane's first element, counted from the same element in all lanes.
    void prepare(long long first, int lane) {
        for (int k = 0; k < K; ++k) {
            const int vector = 32 * k + lane, owner = vector / K;
            offset[k][lane] = __shfl_sync(0xffffffffu, first, owner) - first + 4 * (vector - owner * K);
        }
    }

    // Called by all lanes. to: the lane's pixels.
    void store(T* to, const FourElements<T> (&own)[K], int lane) {
        __syncwarp();
        for (int k = 0; k < K; ++k) vectors[K * lane + k] = own[k];
        __syncwarp();
        for (int k = 0; k < K; ++k) store_as(to + offset[k][lane], vectors[32 * k + lane]);
    }
};

// Stores patches of 4 rows of 8 pixels, one pixel of each lane. A patch has 24 vectors; the last eight lanes store
// none.
template <class T>
struct PackedPatchStore {
    static constexpr int patch_row_vectors = 6;

    FourElements<T>* const patch;  // of 24 vectors, in shared memory that the warp alone uses
    const int lane;
    const bool is_aligned;         // vectors may be stored; else a lane stores its own pixel
    const int row, first_element;  // of what the lane stores, in the patch
    const int elements_left;       // from the first element of patch 0 to the end of the row

    PackedPatchStore(FourElements<T>* patch, int lane, int columns, bool is_aligned)
        : patch(patch),
          lane(lane),
          is_aligned(is_aligned),
          row(is_aligned ? lane / patch_row_vectors : lane / 8),
          first_element(is_aligned ? 4 * (lane - row * patch_row_vectors) : 3 * (lane - row * 8)),
          elements_left(3 * columns) {}

    // Called by all lanes. `out`: where the lane's part of patch 0 goes; `pixel`: the lane's pixel of patch j, 8 j
    // columns to the right of patch 0; `is_inside`: `row` is below 4 and lies in the result, so that the lane stores.
    void store(T* out, int j, const WordPixel<T, 3>& pixel, bool is_inside) const {
        const int first = 24 * j + first_element;
        if (!is_aligned) {
            for (int k = 0; k < 3; ++k)
                if (is_inside && first < elements_left) store_as(out + 24 * j + k, pixel.c[k]);
            return;
        }
        __syncwarp();
        reinterpret_cast<WordPixel<T, 3>*>(patch)[lane] = pixel;
        __syncwarp();
        if (!is_inside) return;
        const FourElements<T> vector = patch[lane];
        if (first + 4 <= elements_left) return store_as(out + 24 * j, vector);
        for (int i = 0; i < 4; ++i)
            if (first + i < elements_left) store_as(out + 24 * j + i, vector.word[i]);
    }
};

}  // namespace cuaug
