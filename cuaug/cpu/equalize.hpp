#pragma once

#include "../kernels/equalized.cuh"
#include "extremes.hpp"

namespace cuaug {

// As kernels/equalize.cu: a task is a sample.
inline void equalize_task(const native::ImageCall& call, long long n, void*) {
    const Pointwise args = pointwise_record(call.record);
    const double wanted = parameter(args, n, 0);
    const long long total = 1LL * args.frames * args.in_height * args.in_width;
    for (int c = 0; c < args.channels; ++c) {
        uint8* table = static_cast<uint8*>(args.out.data) + (n * args.channels + c) * 256;
        for (int i = 0; i < 256; ++i) table[i] = static_cast<uint8>(i);
        if (wanted == 0.0) continue;
        long long counts[2][256] = {};  // in turns: of neighbours of one level the second need not wait for the first
        for (int t = 0; t < args.frames; ++t)
            for (int y = 0; y < args.in_height; ++y) {
                const uint8* row = static_cast<const uint8*>(args.in.data) + n * args.in.n + t * args.in.t + c * args.in.c + y * args.in.y;
                for (int x = 0; x < args.in_width; ++x) ++counts[x & 1][row[x * args.in.x]];
            }
        int lowest = 0, highest = 255;
        for (int i = 0; i < 256; ++i) counts[0][i] += counts[1][i];
        while (counts[0][highest] == 0) --highest;
        while (counts[0][lowest] == 0) ++lowest;
        for (long long i = 0, below = 0; i < 256; below += counts[0][i++]) {
            const int level = static_cast<int>(i);
            table[i] = wanted == 2.0 ? stretched(level, lowest, highest) : equalized(level, below, total - counts[0][highest]);
        }
    }
}

inline long long equalize_tasks(const native::ImageCall& call) { return pointwise_record(call.record).samples; }

}  // namespace cuaug
