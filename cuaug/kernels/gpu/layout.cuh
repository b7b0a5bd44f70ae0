#pragma once

#include "dtype.cuh"

// How the K channels of a batch lie in memory, as far as the code that moves them differs.

namespace cuaug {

struct Planar {};   // K = C; x stride 1
struct Packed {};   // K = C; c stride 1, x stride C
struct Strided {};  // anything else; C may exceed K

// a * b in 64 bits by one instruction: the compiler makes four, once it has extended the sign of one of them before a
// loop.
inline long long mul_wide(int a, int b) {
    long long out;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(out) : "r"(a), "r"(b));
    return out;
}

// K channels from a first one on, of which `left` exist; the last one stands in for those beyond.
template <class Layout, int K>
inline void channel_offsets(long long stride, int left, long long* offset) {
    for (int k = 0; k < K; ++k) {
        if constexpr (is_same_v<Layout, Packed>)
            offset[k] = k;
        else if constexpr (is_same_v<Layout, Planar>)
            offset[k] = k * stride;
        else
            offset[k] = (k < left ? k : left - 1) * stride;
    }
}

template <class Layout, int K>
inline int column_stride(long long stride) {
    if constexpr (is_same_v<Layout, Packed>)
        return K;
    else if constexpr (is_same_v<Layout, Planar>)
        return 1;
    else
        return static_cast<int>(stride);
}

}  // namespace cuaug
