#pragma once

#include "records/batch.cuh"
#include "gpu/layout.cuh"
#include "gpu/wide_multiply.cuh"
#include "gpu/word_pixel.cuh"

namespace cuaug {

// K channels of an input frame.
template <class T, int K>
struct SourceFrame {
    const T* data;  // channel 0, row 0, column 0
    long long c_stride;
    int channels;  // of the K, those that exist; the last one stands in for the others
    int y_stride, x_stride;
    int height, width;
    bool aligned;  // four adjacent elements from any multiple of four on may be read as one vector
};

// Offset of channel k, in elements.
template <class Layout, class T, int K>
inline long long offset_of(const SourceFrame<T, K>& source, int k) {
    if constexpr (is_same_v<Layout, Packed>)
        return k;
    else if constexpr (is_same_v<Layout, Planar>)
        return k * source.c_stride;
    else
        return min(k, source.channels - 1) * source.c_stride;
}

// The address of a row. For bytes the compiler would multiply 64-bit numbers.
template <class T, int K>
inline const T* row_of(const SourceFrame<T, K>& source, int row) {
    if constexpr (sizeof(T) > 1) {
        return source.data + static_cast<long long>(row) * source.y_stride;
    } else {
        return reinterpret_cast<const T*>(
            mad_wide(row, source.y_stride, reinterpret_cast<const unsigned char*>(source.data)));
    }
}

// Rows that are prefetched at once. Against four rows, eight save 1 us of 150 for bytes, and would add 10 us to 310 for
// floats.
template <class T>
constexpr int rows_ahead = sizeof(T) == 1 ? 8 : 4;

// Called by one warp: prefetches columns [begin, end) of `rows_ahead` rows from `row` on into the L2, so that their
// first use does not wait for memory.
template <class Layout, class T, int K>
inline void prefetch(const SourceFrame<T, K>& source, int row, int begin, int end, int lane) {
    if constexpr (!is_same_v<Layout, Strided>) {
        constexpr bool packed = is_same_v<Layout, Packed>;
        constexpr int planes = packed ? 1 : K, elements_per_column = packed ? K : 1, step = 64 / sizeof(T);
        const T* at = row_of(source, min(row + lane % rows_ahead<T>, source.height - 1));
#pragma unroll 1
        for (int x = begin * elements_per_column + lane / rows_ahead<T> * step; x < end * elements_per_column;
             x += 32 / rows_ahead<T> * step)
            for (int k = 0; k < planes; ++k)
                asm volatile("prefetch.global.L2 [%0];" : : "l"(at + offset_of<Layout>(source, k) + x));
    }
}

}  // namespace cuaug
