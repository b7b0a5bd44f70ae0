#pragma once

#include "pointwise.hpp"

namespace cuaug {

inline Batch batch_record(const void* record) {
    Batch args;
    memcpy(&args, record, sizeof(args));
    return args;
}

// The least and the greatest value of up to four channels from c on. A NaN is neither: fmin and fmax return the second argument then.
template <class T>
inline void extremes_of(const Batch& args, long long n, int c, PointwiseMemory<Real<T>>& memory, Real<T> (&low)[4], Real<T> (&high)[4]) {
    using R = Real<T>;
    for (int k = 0; k < 4; ++k) low[k] = R(__builtin_inff()), high[k] = -low[k];
    for (int t = 0; t < args.frames; ++t) {
        const Plane in = plane<T>(args.in, n, t, c, args.channels);
        for (int y = 0; y < args.in_height; ++y)
            for (int x = 0; x < args.in_width; x += piece_width) {
                const int count = args.in_width - x < piece_width ? args.in_width - x : piece_width;
                load_channels<T>(in, y, x, count, memory);
                for (int k = 0; k < in.channels; ++k) {
                    const R* __restrict__ values = memory.channel[k];
                    R least = low[k], greatest = high[k];
                    for (int i = 0; i < count; ++i) least = fmin(values[i], least), greatest = fmax(values[i], greatest);
                    low[k] = least, high[k] = greatest;
                }
            }
    }
}

// As kernels/extremes.cu: a task is a sample.
inline void extremes_task(const native::ImageCall& call, long long n, void* workspace) {
    const Batch args = batch_record(call.record);
    with_source(call.source, [&](auto element) {
        using T = decltype(element);
        double* out = static_cast<double*>(args.out.data) + 2 * n * args.channels;
        for (int c = 0; c < args.channels; c += 4) {
            Real<T> low[4], high[4];
            extremes_of<T>(args, n, c, *static_cast<PointwiseMemory<Real<T>>*>(workspace), low, high);
            for (int k = 0; k < 4 && c + k < args.channels; ++k) out[c + k] = low[k], out[args.channels + c + k] = high[k];
        }
    });
}

inline long long extremes_tasks(const native::ImageCall& call) { return batch_record(call.record).samples; }

}  // namespace cuaug
