#pragma once

#include "records/batch.cuh"
#include "gpu/layout.cuh"

// Ragged batches: images that differ in size.

namespace cuaug {

// A ragged batch whose images have this layout.
template <class Layout>
struct Ragged {};

template <class Layout>
struct LayoutTraits {
    using type = Layout;
    static constexpr bool ragged = false;
};

template <class Layout>
struct LayoutTraits<Ragged<Layout>> {
    using type = Layout;
    static constexpr bool ragged = true;
};

template <class Layout>
inline int height_of(const BatchRecord& batch, long long n) {
    if constexpr (LayoutTraits<Layout>::ragged)
        return ragged_image(batch, n).height;
    else
        return batch.in_height;
}

template <class Layout>
inline int width_of(const BatchRecord& batch, long long n) {
    if constexpr (LayoutTraits<Layout>::ragged)
        return ragged_image(batch, n).width;
    else
        return batch.in_width;
}

// The address of frame t of sample n, at a channel. A sample of a ragged batch is a single image.
template <class T, class Layout>
inline const T* frame_of(const BatchRecord& batch, long long n, long long t, int channel) {
    if constexpr (LayoutTraits<Layout>::ragged) {
        const RaggedImage& image = ragged_image(batch, n);
        return static_cast<const T*>(image.data) + channel * image.c_stride;
    } else {
        return static_cast<const T*>(batch.in.data) + n * batch.in.n_stride + t * batch.in.t_stride +
               channel * batch.in.c_stride;
    }
}

}  // namespace cuaug
