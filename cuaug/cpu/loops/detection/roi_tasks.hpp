#pragma once

#include "roi_samples.hpp"

namespace cuaug {

// One region, some of its channels.
template <class T>
inline void pool_region(const Pooling& args, native::Pooling kind, long long k, const Channels& channels) {
    using R = ComputeType<T>;
    if (kind == native::Pooling::pixels)
        pool_samples<T, R, PixelBins<R>, true>(args, k, channels);
    else if (kind == native::Pooling::greatest)
        pool_samples<T, R, SampledBins<R>, true>(args, k, channels);
    else if (args.rotated)
        pool_samples<T, R, SampledBins<R>, false>(args, k, channels);
    else
        average<T, R>(args, k, channels);
}

template <class T>
inline void spread_region(const Pooling& args, native::Pooling kind, long long k, const Channels& channels,
                          ComputeType<T>* to, const Maps& maps) {
    using R = ComputeType<T>;
    if (kind == native::Pooling::pixels)
        spread_samples<T, R, PixelBins<R>, true>(args, k, channels, to, maps);
    else if (kind == native::Pooling::greatest)
        spread_samples<T, R, SampledBins<R>, true>(args, k, channels, to, maps);
    else if (args.rotated)
        spread_samples<T, R, SampledBins<R>, false>(args, k, channels, to, maps);
    else
        spread<T, R>(args, k, channels, to, maps);
}

// Some channels of one sample of one level: its regions one after the other, in the order of the call, so that no two
// threads add to one place and every run gives the same. Gradients of half precision are summed in a float32 copy.
template <class T>
inline void spread_level(const native::PoolingCall& call, const Pooling& args, int level, int n,
                         const Channels& channels) {
    using R = ComputeType<T>;
    const PoolingLevel& own = args.level[level];
    const long long count = channels.last - channels.first, pixels = static_cast<long long>(own.height) * own.width;
    T* out = static_cast<T*>(own.gradients.data) + n * own.gradients.n + channels.first * own.gradients.c;
    const bool inside = channels_inside(own.gradients);
    const Maps packed = {nullptr, 0, 1, own.width * count, count}, planar = {nullptr, 0, pixels, own.width, 1};
    Vector<R> copy(is_same_v<T, R> ? 0 : count * pixels);
    Maps maps = is_same_v<T, R> ? own.gradients : inside ? packed : planar;
    R* to;
    if constexpr (is_same_v<T, R>)
        to = out;
    else
        to = copy.data();
    const long long outer = inside ? pixels : count, inner = inside ? count : pixels;
    auto row = [&](const Maps& where, long long i) {
        return inside ? i / own.width * where.y + i % own.width * where.x : i * where.c;
    };
    for (long long i = 0; i < outer; ++i)
        for (long long j = 0; j < inner; ++j) to[row(maps, i) + j] = 0;
    const long long list = static_cast<long long>(level) * args.samples + n;
    for (long long i = call.first[list]; i < call.first[list + 1]; ++i)
        spread_region<T>(args, call.kind, call.order[i], channels, to, maps);
    if constexpr (!is_same_v<T, R>)
        for (long long i = 0; i < outer; ++i)
            for (long long j = 0; j < inner; ++j)
                out[row(own.gradients, i) + j] = saturate_cast<T>(to[row(maps, i) + j]);
}

template <class T>
inline void pooling_of(const native::PoolingCall& call, long long task) {
    const Pooling& args = *static_cast<const Pooling*>(call.record);
    // All regions of some channels before those of others: a few planes stay in the cache.
    const long long each = call.first == nullptr ? args.count : static_cast<long long>(args.levels) * args.samples,
                    which = task % each;
    const Channels channels = channels_of(args, static_cast<int>(task / each), call.blocks);
    if (call.first == nullptr)
        pool_region<T>(args, call.kind, which, channels);
    else
        spread_level<T>(call, args, static_cast<int>(which / args.samples), static_cast<int>(which % args.samples),
                        channels);
}

void pooling_task(const native::PoolingCall& call, long long task) {
    if (call.dtype == dtype_of<float16>)
        pooling_of<float16>(call, task);
    else if (call.dtype == dtype_of<bfloat16>)
        pooling_of<bfloat16>(call, task);
    else if (call.dtype == dtype_of<float64>)
        pooling_of<float64>(call, task);
    else
        pooling_of<float32>(call, task);
}

}  // namespace cuaug
