#pragma once

#include "records/pointwise.cuh"
#include "batch_record.hpp"
#include "channel_io.hpp"
#include "simd8.hpp"

namespace cuaug {

// Extends the ranges of up to four channels from c on by sample n's pixels.
template <class T, class R = ComputeType<T>>
inline void extend_ranges(const BatchRecord& args, long long n, int c, SegmentWorkspace<R>& workspace,
                          MinMax8<R> (&ranges)[4]) {
    for (int t = 0; t < args.frames; ++t) {
        const ChannelGroup in = channel_group<T>(args.in, n, t, c, args.channels);
        for (int y = 0; y < args.in_height; ++y)
            for (int x = 0; x < args.in_width; x += segment_width) {
                const int count = args.in_width - x < segment_width ? args.in_width - x : segment_width;
                load_channels<T>(in, y, x, count, R(1), workspace);
                for (int k = 0; k < in.channels; ++k) {
                    R* values = workspace.channel[k];
                    for (int i = count; i % lanes != 0; ++i) values[i] = values[count - 1];
                    MinMax8<R> range = ranges[k];
                    for (int i = 0; i < count; i += lanes) {
                        typename Simd8<R>::type value;
                        memcpy(&value, values + i, sizeof(value));
                        range.add(value);
                    }
                    ranges[k] = range;
                }
            }
    }
}

// The CPU loop that corresponds to kernels/passes/channel_min_max.cu. A task is a sample. `out` is [N, 2, C], float64:
// the minimum of each channel, then the maximum. NaN pixels are ignored; both are NaN for a sample whose parameter is
// 0, which means that the op does not apply to it.
void channel_min_max_task(const native::RecordCall& call, long long n, void* memory) {
    const auto args = read_record<PointwiseRecord>(call.record);
    dispatch_image_dtype(call.in_dtype, [&](auto element) {
        using T = decltype(element);
        using R = ComputeType<T>;
        double* out = static_cast<double*>(args.out.data) + 2 * n * args.channels;
        if (parameter(args, n, 0) == 0.0) {
            for (int i = 0; i < 2 * args.channels; ++i) out[i] = __builtin_nan("");
            return;
        }
        for (int c = 0; c < args.channels; c += 4) {
            const typename Simd8<R>::type zeros = {}, infinity = zeros + R(__builtin_inff());
            MinMax8<R> ranges[4];
            for (auto& range : ranges) range = {infinity, -infinity};
            extend_ranges<T>(args, n, c, *static_cast<SegmentWorkspace<R>*>(memory), ranges);
            for (int k = 0; k < 4 && c + k < args.channels; ++k) {
                out[c + k] = ranges[k].low();
                out[args.channels + c + k] = ranges[k].high();
            }
        }
    });
}

long long channel_min_max_task_count(const native::RecordCall& call) {
    return read_record<PointwiseRecord>(call.record).samples;
}

}  // namespace cuaug
