#pragma once

#include "roi.hpp"

// Pools sample by sample: averages of rotated regions, and maxima. The samples have the same positions in all channels.

namespace cuaug {

constexpr int max_batch_samples = 256;

template <int W, class T, class R>
inline void add_sample(const RoiSample<R>& sample, const T* in, R* value) {
    for (int i = 0; i < sample.taps; ++i)
        for (int j = 0; j < W; ++j) value[j] += sample.weight[i] * to_compute<R>(in[sample.offset[i] + j]);
}

// Calls `visit(samples, has_earlier)` with at most `max_batch_samples` samples of a bin at a time; `has_earlier`: this
// is not the first call. Returns whether the bin has further samples: they lie outside the map, so that their value is
// 0. `with_outside`: `visit` also gets samples outside the map.
template <class R, class Bins, class Visitor>
inline bool for_each_batch(const RoiRecord& args, const Bins& bins, int y, int x, Vector<RoiSample<R>>& samples,
                           bool with_outside, const Visitor& visit) {
    bool has_earlier = false;
    samples.clear();
    const bool has_unvisited_samples =
        bins.for_each_sample(args, bins.level->values, y, x, [&](const RoiSample<R>& sample) {
            if (!with_outside && sample.taps == 0) return;
            samples.add(sample);
            if (samples.count() < max_batch_samples) return;
            visit(samples, has_earlier);
            samples.clear();
            has_earlier = true;
        });
    if (samples.count() > 0) visit(samples, has_earlier);
    return has_unvisited_samples;
}

// Adds samples to the sums or maxima of W channels.
template <int W, bool is_max, class T, class R>
inline void reduce_samples(const Vector<RoiSample<R>>& samples, bool has_earlier, const T* in, R* value) {
    for (long long i = 0; i < samples.count(); ++i) {
        if constexpr (is_max) {
            R sample[W] = {};
            add_sample<W>(samples[i], in, sample);
            for (int j = 0; j < W; ++j)
                value[j] = (i == 0 && !has_earlier) || replaces_max(sample[j], value[j]) ? sample[j] : value[j];
        } else {
            add_sample<W>(samples[i], in, value);
        }
    }
}

template <class T, class R, class Bins, bool is_max>
inline void pool_samples(const RoiRecord& args, long long k, const ChannelRange& channels) {
    const Bins bins(args, k);
    const FeatureMap& map = bins.level->values;
    const bool channels_last = map.c_stride == 1 && is_channels_last(map);
    Vector<RoiSample<R>> samples;
    Vector<R> values(channels.last - channels.first);
    for (int y = 0; y < args.out_height; ++y)
        for (int x = 0; x < args.out_width; ++x) {
            for (long long i = 0; i < values.count(); ++i) values[i] = 0;
            const auto reduce = [&](const Vector<RoiSample<R>>& batch, bool has_earlier) {
                for_each_group(channels, channels_last, [&](int c, auto width) {
                    reduce_samples<width.value, is_max>(
                        batch, has_earlier, static_cast<const T*>(map.data) + bins.n * map.n_stride + c * map.c_stride,
                        &values[c - channels.first]);
                });
            };
            const bool has_unvisited_samples =
                bins.n >= 0 && for_each_batch<R>(args, bins, y, x, samples, is_max, reduce);
            for (int c = channels.first; c < channels.last; ++c) {
                R value = values[c - channels.first];
                if (is_max && has_unvisited_samples && replaces_max(R(0), value)) value = 0;
                if (!is_max) value /= bins.count;
                write_bin<1, T>(args, k, c, y, x, &value);
            }
        }
}

// For each channel, the index of the greatest sample of a bin; -1: a sample that is not visited, outside the map.
template <class T, class R, class Bins>
inline void find_argmax(const RoiRecord& args, const Bins& bins, const ChannelRange& channels, int y, int x,
                        Vector<RoiSample<R>>& samples, Vector<R>& values, Vector<long long>& argmax) {
    const FeatureMap& map = bins.level->values;
    const int count = channels.last - channels.first;
    for (int c = 0; c < count; ++c) argmax[c] = -1;
    long long batch_begin = 0;
    const bool has_unvisited_samples =
        for_each_batch<R>(args, bins, y, x, samples, true, [&](const Vector<RoiSample<R>>& batch, bool) {
            for (int c = 0; c < count; ++c) {
                const T* in =
                    static_cast<const T*>(map.data) + bins.n * map.n_stride + (channels.first + c) * map.c_stride;
                for (long long i = 0; i < batch.count(); ++i) {
                    R sample = 0;
                    add_sample<1>(batch[i], in, &sample);
                    if (argmax[c] < 0 || replaces_max(sample, values[c]))
                        values[c] = sample, argmax[c] = batch_begin + i;
                }
            }
            batch_begin += batch.count();
        });
    for (int c = 0; c < count; ++c)
        if (has_unvisited_samples && replaces_max(R(0), values[c])) argmax[c] = -1;
}

// Backward: adds the gradient of a bin to the pixels of all its samples, or of the greatest one.
template <class T, class R, class Bins, bool is_max>
inline void scatter_samples(const RoiRecord& args, long long k, const ChannelRange& channels, R* out,
                            const FeatureMap& map) {
    const Bins bins(args, k);
    if (bins.n < 0) return;
    const int count = channels.last - channels.first;
    Vector<RoiSample<R>> samples;
    Vector<R> values(count);
    Vector<long long> argmax(count);
    auto scatter = [&](int c, const RoiSample<R>& sample, int y, int x) {
        R gradient;
        read_bin<1, T>(args, k, c, y, x, &gradient);
        if (!is_max) gradient /= bins.count;
        for (int i = 0; i < sample.taps; ++i)
            out[(c - channels.first) * map.c_stride + sample.offset[i]] += sample.weight[i] * gradient;
    };
    for (int y = 0; y < args.out_height; ++y)
        for (int x = 0; x < args.out_width; ++x) {
            if constexpr (is_max) {
                find_argmax<T>(args, bins, channels, y, x, samples, values, argmax);
                // Visits the samples again, with their offsets in the gradients.
                long long i = 0;
                bins.for_each_sample(args, map, y, x, [&](const RoiSample<R>& sample) {
                    for (int c = 0; c < count; ++c)
                        if (argmax[c] == i) scatter(channels.first + c, sample, y, x);
                    ++i;
                });
            } else {
                bins.for_each_sample(args, map, y, x, [&](const RoiSample<R>& sample) {
                    for (int c = channels.first; c < channels.last && sample.taps > 0; ++c) scatter(c, sample, y, x);
                });
            }
        }
}

}  // namespace cuaug
