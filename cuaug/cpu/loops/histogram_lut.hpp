#pragma once

#include "ops/histogram_lut.cuh"
#include "records/pointwise.cuh"
#include "batch_record.hpp"
#include "channel_group.hpp"

namespace cuaug {

// The histogram of one channel of a sample, over all its frames.
struct LevelCounts {
    long long pixels[256];

    long long level_sum() const {
        long long sum = 0;
        for (int i = 0; i < 256; ++i) sum += i * pixels[i];
        return sum;
    }
};

inline LevelCounts count_levels(const PointwiseRecord& args, long long n, int c) {
    LevelCounts result = {};
    for (int t = 0; t < args.frames; ++t) {
        // Four histograms, which adjacent pixels use in turn, so that an increment need not wait for that of an equal
        // neighbour.
        unsigned int counts[4][256] = {};
        for (int y = 0; y < args.in_height; ++y) {
            const uint8* row = static_cast<const uint8*>(args.in.data) + n * args.in.n_stride + t * args.in.t_stride +
                               c * args.in.c_stride + y * args.in.y_stride;
            const long long step = args.in.x_stride;
            int x = 0;
            for (; x + 4 <= args.in_width; x += 4, row += 4 * step)
                for (int i = 0; i < 4; ++i) ++counts[i][row[i * step]];
            for (; x < args.in_width; ++x, row += step) ++counts[0][*row];
        }
        for (int i = 0; i < 256; ++i)
            result.pixels[i] += static_cast<long long>(counts[0][i]) + counts[1][i] + counts[2][i] + counts[3][i];
    }
    return result;
}

inline double mean_luma(const PointwiseRecord& args, long long n) {
    long long sums[3] = {};
    for (int c = 0; c < (args.channels == 3 ? 3 : 1); ++c) sums[c] = count_levels(args, n, c).level_sum();
    return mean_luma(sums, args.channels, 1LL * args.frames * args.in_height * args.in_width);
}

// The CPU loop that corresponds to kernels/passes/histogram_lut.cu. A task is a sample.
void histogram_lut_task(const native::RecordCall& call, long long n, void*) {
    const auto args = read_record<PointwiseRecord>(call.record);
    const int mode = static_cast<int>(parameter(args, n, 0));
    const long long pixel_count = 1LL * args.frames * args.in_height * args.in_width;
    const double mean = mode == adjust_contrast ? mean_luma(args, n) : 0.0;
    const float factor = mode == adjust_contrast ? static_cast<float>(parameter(args, n, 1)) : 1.0f;
    for (int c = 0; c < args.channels; ++c) {
        uint8* table = static_cast<uint8*>(args.out.data) + (n * args.channels + c) * 256;
        for (int i = 0; i < 256; ++i)
            table[i] = mode == adjust_contrast ? adjust_contrast_level(i, factor, mean) : static_cast<uint8>(i);
        if (mode != equalize && mode != autocontrast) continue;
        const LevelCounts counts = count_levels(args, n, c);
        int lowest = 0, highest = 255;
        while (counts.pixels[highest] == 0) --highest;
        while (counts.pixels[lowest] == 0) ++lowest;
        for (long long i = 0, pixels_below = 0; i < 256; pixels_below += counts.pixels[i++]) {
            const int level = static_cast<int>(i);
            table[i] = mode == autocontrast ? autocontrast_level(level, lowest, highest)
                                            : equalize_level(level, pixels_below, pixel_count - counts.pixels[highest]);
        }
    }
}

long long histogram_lut_task_count(const native::RecordCall& call) {
    return read_record<PointwiseRecord>(call.record).samples;
}

}  // namespace cuaug
