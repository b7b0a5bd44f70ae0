#pragma once

#include "pixel.cuh"
#include "records/batch.cuh"
#include "convert.hpp"
#include "dispatch_dtype.hpp"

// Four channels of a frame in memory, any dtype and layout.

namespace cuaug {

using Rgba32 = unsigned int;

// Four channels of one frame; those beyond the last repeat it. Strides in elements.
struct ChannelGroup {
    char* data;
    long long offset[4];
    long long y_stride;
    long long x_stride;
    int channels;  // 1..4 of them real
    bool packed;   // adjacent in memory, and so are pixels
};

template <class T>
inline ChannelGroup channel_group(const BatchView& view, long long n, long long t, int c, int channels) {
    ChannelGroup out = {reinterpret_cast<char*>(static_cast<T*>(view.data) + n * view.n + t * view.t),
                        {},
                        view.y,
                        view.x,
                        channels - c,
                        false};
    if (out.channels > 4) out.channels = 4;
    for (int k = 0; k < 4; ++k) out.offset[k] = (k < out.channels ? c + k : channels - 1) * view.c;
    out.packed = view.c == 1 && view.x == out.channels;
    return out;
}

// What a task works on: rows of frame t of sample n, from `top` on and before `bottom`.
struct TaskRows {
    long long n, t;
    int top, bottom;
};

// Of frames that are `height` high, so many rows a task.
inline TaskRows task_rows(const BatchRecord& args, int height, int rows, long long task) {
    const int parts = (height + rows - 1) / rows, top = static_cast<int>(task % parts) * rows;
    const long long frame = task / parts, n = frame / args.frames;
    return {n, frame - n * args.frames, top, height - top < rows ? height : top + rows};
}

// Makes the record one of sample n's image, where each has its own.
inline void select_ragged_image(BatchRecord& batch, long long n) {
    if (batch.in_height != 0) return;
    const RaggedImage& one = ragged_image(batch, n);
    batch.in = {const_cast<void*>(one.data), 0, 0, one.c, one.y, one.x};
    batch.in_height = one.height;
    batch.in_width = one.width;
    batch.in_vector_elements = one.vector_elements;
}

template <class T>
inline Pixel<ComputeType<T>, 4> fill_pixel(const Fill& fill, long long n, int c, int channels) {
    using R = ComputeType<T>;
    Pixel<R, 4> out;
    for (int k = 0; k < 4; ++k)
        out.c[k] = to_compute<R>(
            saturate_cast<T>(static_cast<R>(fill_value(fill, n, c + k < channels ? c + k : channels - 1))));
    return out;
}

}  // namespace cuaug
