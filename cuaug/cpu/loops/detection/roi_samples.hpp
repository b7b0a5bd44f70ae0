#pragma once

#include "roi_average.hpp"

// Any bins, sample by sample: those of rotated regions, and the greatest value of a bin. The samples are the same for
// all channels.

namespace cuaug {

constexpr int most_samples = 256;  // at a time

template <int W, class T, class R>
inline void add_sample(const RoiSample<R>& sample, const T* in, R* value) {
    for (int i = 0; i < sample.taps; ++i)
        for (int j = 0; j < W; ++j) value[j] += sample.weight[i] * to_compute<R>(in[sample.offset[i] + j]);
}

// Calls `work(samples, started)` with some of a bin's samples at a time; whether there are others, all 0.
template <class R, class Shape, class Work>
inline bool some_samples(const Pooling& args, const Shape& shape, int y, int x, Vector<RoiSample<R>>& samples,
                         bool outside, const Work& work) {
    bool started = false;
    samples.clear();
    const bool others = shape.each(args, shape.level->values, y, x, [&](const RoiSample<R>& sample) {
        if (!outside && sample.taps == 0) return;
        samples.add(sample);
        if (samples.count() < most_samples) return;
        work(samples, started);
        samples.clear();
        started = true;
    });
    if (samples.count() > 0) work(samples, started);
    return others;
}

template <class T, class R, class Shape, bool greatest>
inline void pool_samples(const Pooling& args, long long k, const Channels& channels) {
    const Shape shape(args, k);
    const Maps& maps = shape.level->values;
    const bool inside = maps.c == 1 && channels_inside(maps);
    Vector<RoiSample<R>> samples;
    Vector<R> values(channels.last - channels.first);
    for (int y = 0; y < args.out_height; ++y)
        for (int x = 0; x < args.out_width; ++x) {
            for (long long i = 0; i < values.count(); ++i) values[i] = 0;
            const bool others =
                shape.n >= 0 &&
                some_samples<R>(
                    args, shape, y, x, samples, greatest, [&](const Vector<RoiSample<R>>& some, bool started) {
                        in_groups(channels, inside, [&](int c, auto wide) {
                            constexpr int W = wide.value;
                            const T* in = static_cast<const T*>(maps.data) + shape.n * maps.n + c * maps.c;
                            R* value = &values[c - channels.first];
                            for (long long i = 0; i < some.count(); ++i) {
                                if constexpr (greatest) {
                                    R one[W] = {};
                                    add_sample<W>(some[i], in, one);
                                    for (int j = 0; j < W; ++j)
                                        value[j] = (i == 0 && !started) || beats(one[j], value[j]) ? one[j] : value[j];
                                } else {
                                    add_sample<W>(some[i], in, value);
                                }
                            }
                        });
                    });
            for (int c = channels.first; c < channels.last; ++c) {
                R value = values[c - channels.first];
                if (greatest && others && beats(R(0), value)) value = 0;
                if (!greatest) value /= shape.count;
                write_bin<1, T>(args, k, c, y, x, &value);
            }
        }
}

// The way back: to all samples alike, or to the one that was the greatest.
template <class T, class R, class Shape, bool greatest>
inline void spread_samples(const Pooling& args, long long k, const Channels& channels, R* to, const Maps& maps) {
    const Shape shape(args, k);
    if (shape.n < 0) return;
    const Maps& read = shape.level->values;
    const int count = channels.last - channels.first;
    Vector<RoiSample<R>> samples;
    Vector<R> values(count);
    Vector<long long> chosen(count);
    auto give = [&](int c, const RoiSample<R>& sample, int y, int x) {
        R gradient;
        read_bin<1, T>(args, k, c, y, x, &gradient);
        if (!greatest) gradient /= shape.count;
        for (int i = 0; i < sample.taps; ++i)
            to[(c - channels.first) * maps.c + sample.offset[i]] += sample.weight[i] * gradient;
    };
    for (int y = 0; y < args.out_height; ++y)
        for (int x = 0; x < args.out_width; ++x) {
            if constexpr (greatest) {
                for (int c = 0; c < count; ++c) chosen[c] = -1;
                long long seen = 0;
                const bool others =
                    some_samples<R>(args, shape, y, x, samples, true, [&](const Vector<RoiSample<R>>& some, bool) {
                        for (int c = 0; c < count; ++c) {
                            const T* in =
                                static_cast<const T*>(read.data) + shape.n * read.n + (channels.first + c) * read.c;
                            for (long long i = 0; i < some.count(); ++i) {
                                R one = 0;
                                add_sample<1>(some[i], in, &one);
                                if (chosen[c] < 0 || beats(one, values[c])) values[c] = one, chosen[c] = seen + i;
                            }
                        }
                        seen += some.count();
                    });
                for (int c = 0; c < count; ++c)
                    if (others && beats(R(0), values[c])) chosen[c] = -1;
                // Once more, for where the samples lie among the gradients.
                long long i = 0;
                shape.each(args, maps, y, x, [&](const RoiSample<R>& sample) {
                    for (int c = 0; c < count; ++c)
                        if (chosen[c] == i) give(channels.first + c, sample, y, x);
                    ++i;
                });
            } else {
                shape.each(args, maps, y, x, [&](const RoiSample<R>& sample) {
                    for (int c = channels.first; c < channels.last && sample.taps > 0; ++c) give(c, sample, y, x);
                });
            }
        }
}

}  // namespace cuaug
