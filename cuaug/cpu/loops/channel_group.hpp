#pragma once

#include "pixel.cuh"
#include "records/batch.cuh"
#include "convert.hpp"
#include "dispatch_dtype.hpp"

namespace cuaug {

// Up to four channels of a frame, of any dtype and layout. Strides and offsets in elements.
struct ChannelGroup {
    char* data;
    long long offset[4];  // entries beyond the last channel repeat its offset
    long long y_stride;
    long long x_stride;
    int channels;  // 1..4
    bool packed;   // channels are adjacent in memory, and so are pixels
};

template <class T>
inline ChannelGroup channel_group(const BatchView& view, long long n, long long t, int first_channel,
                                  int image_channels) {
    ChannelGroup out = {reinterpret_cast<char*>(static_cast<T*>(view.data) + n * view.n_stride + t * view.t_stride),
                        {},
                        view.y_stride,
                        view.x_stride,
                        image_channels - first_channel,
                        false};
    if (out.channels > 4) out.channels = 4;
    for (int k = 0; k < 4; ++k)
        out.offset[k] = (k < out.channels ? first_channel + k : image_channels - 1) * view.c_stride;
    out.packed = view.c_stride == 1 && view.x_stride == out.channels;
    return out;
}

// The fill of four channels from `first_channel` on, rounded to dtype T; the last channel's fill stands for further
// ones.
template <class T>
inline Pixel<ComputeType<T>, 4> fill_pixel(const Fill& fill, long long n, int first_channel, int image_channels) {
    using R = ComputeType<T>;
    Pixel<R, 4> out;
    for (int k = 0; k < 4; ++k)
        out.c[k] = to_compute<R>(saturate_cast<T>(static_cast<R>(
            fill_value(fill, n, first_channel + k < image_channels ? first_channel + k : image_channels - 1))));
    return out;
}

}  // namespace cuaug
