#pragma once

#include "dtype.cuh"

// Memory layouts of the K channels that a thread reads or writes together.

namespace cuaug {

struct Planar {};   // K = C; stride of x is 1
struct Packed {};   // K = C; stride of c is 1, of x is C
struct Strided {};  // any strides; C may exceed K

// Whether an image has exactly K channels: a frame is not divided into groups of channels.
template <class InLayout, class OutLayout>
constexpr bool has_static_channels = !is_same_v<InLayout, Strided> && !is_same_v<OutLayout, Strided>;

// Offsets of K channels from the first of them. Fewer than K may exist with Strided: `available`. The entries of
// missing channels repeat the offset of the last one that exists.
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
