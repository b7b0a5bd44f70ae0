#pragma once

#include "dtype.cuh"

// Memory layouts of the K channels that a thread reads or writes together.

namespace cuaug {

struct Planar {};   // K = C; stride of x is 1
struct Packed {};   // K = C; stride of c is 1, of x is C
struct Strided {};  // any strides; C may exceed K

// a * b in 64 bits by one instruction. The compiler turns a product written in C++ into four instructions once it has
// moved a sign extension out of a loop.
inline long long mul_wide(int a, int b) {
    long long out;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(out) : "r"(a), "r"(b));
    return out;
}

// address + a * b, by one instruction.
inline const unsigned char* mad_wide(int a, int b, const unsigned char* address) {
    const unsigned char* out;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(out) : "r"(a), "r"(b), "l"(address));
    return out;
}

// Offsets of K channels from the first of them. With Strided only `available` of them may exist; the last one stands in
// for those beyond.
template <class Layout, int K>
inline void channel_offsets(long long stride, int available, long long* offset) {
    for (int k = 0; k < K; ++k) {
        if constexpr (is_same_v<Layout, Packed>)
            offset[k] = k;
        else if constexpr (is_same_v<Layout, Planar>)
            offset[k] = k * stride;
        else
            offset[k] = (k < available ? k : available - 1) * stride;
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
