#pragma once

#include "roi_average.hpp"
#include "roi_points.hpp"

namespace cuaug {

// Pools some channels of one region. The last template argument of pool_points and of scatter_points says whether
// maxima are pooled, not averages. average_region needs unrotated regions whose bins all pool the same channels
// (RoiRecord::bin_stride 0, as always in a backward pass).
template <class T>
inline void pool_region(const RoiRecord& args, native::PoolingKind kind, long long k, const ChannelRange& channels) {
    using R = ComputeType<T>;
    if (kind == native::PoolingKind::roi_pool)
        pool_points<T, R, RoiPoolBins<R>, true>(args, k, channels);
    else if (kind == native::PoolingKind::ps_roi_pool)
        pool_points<T, R, PsRoiPoolBins<R>, false>(args, k, channels);
    else if (kind == native::PoolingKind::roi_align_max)
        pool_points<T, R, RoiAlignBins<R>, true>(args, k, channels);
    else if (args.rotated || args.bin_stride != 0)
        pool_points<T, R, RoiAlignBins<R>, false>(args, k, channels);
    else
        average_region<T, R>(args, k, channels);
}

// Backward: adds the gradients of one region.
template <class T>
inline void scatter_region(const RoiRecord& args, native::PoolingKind kind, long long k, const ChannelRange& channels,
                           ComputeType<T>* out, const FeatureMap& map) {
    using R = ComputeType<T>;
    if (kind == native::PoolingKind::roi_pool)
        scatter_points<T, R, RoiPoolBins<R>, true>(args, k, channels, out, map);
    else if (kind == native::PoolingKind::ps_roi_pool)
        scatter_points<T, R, PsRoiPoolBins<R>, false>(args, k, channels, out, map);
    else if (kind == native::PoolingKind::roi_align_max)
        scatter_points<T, R, RoiAlignBins<R>, true>(args, k, channels, out, map);
    else if (args.rotated)
        scatter_points<T, R, RoiAlignBins<R>, false>(args, k, channels, out, map);
    else
        scatter_average<T, R>(args, k, channels, out, map);
}

// Backward: computes the gradients of some channels of one sample of one level. One task adds the gradients of all
// regions of the sample and level, in the order of the call, so that no two threads add to one element and every run
// gives the same bits. Gradients of half precision are summed in a float32 copy.
template <class T>
inline void scatter_level(const native::PoolingCall& call, const RoiRecord& args, int level_index, int n,
                          const ChannelRange& channels) {
    using R = ComputeType<T>;
    const RoiLevel& level = args.level[level_index];
    const long long count = channels.end - channels.first, pixels = static_cast<long long>(level.height) * level.width;
    T* out = static_cast<T*>(level.gradients.data) + n * level.gradients.n_stride +
             channels.first * level.gradients.c_stride;
    const bool channels_last = is_channels_last(level.gradients);
    const FeatureMap packed = {nullptr, 0, 1, level.width * count, count},
                     planar = {nullptr, 0, pixels, level.width, 1};
    Vector<R> float32_sums(is_same_v<T, R> ? 0 : count * pixels);
    FeatureMap map = is_same_v<T, R> ? level.gradients : channels_last ? packed : planar;
    R* sums;
    if constexpr (is_same_v<T, R>)
        sums = out;
    else
        sums = float32_sums.data();
    const long long outer = channels_last ? pixels : count, inner = channels_last ? count : pixels;
    auto offset = [&](const FeatureMap& gradient_map, long long i) {
        return channels_last ? i / level.width * gradient_map.y_stride + i % level.width * gradient_map.x_stride
                             : i * gradient_map.c_stride;
    };
    for (long long i = 0; i < outer; ++i)
        for (long long j = 0; j < inner; ++j) sums[offset(map, i) + j] = 0;
    const long long level_sample = static_cast<long long>(level_index) * args.samples + n;
    for (long long i = call.region_begin[level_sample]; i < call.region_begin[level_sample + 1]; ++i)
        scatter_region<T>(args, call.kind, call.region_order[i], channels, sums, map);
    if constexpr (!is_same_v<T, R>)
        for (long long i = 0; i < outer; ++i)
            for (long long j = 0; j < inner; ++j)
                out[offset(level.gradients, i) + j] = saturate_cast<T>(sums[offset(map, i) + j]);
}

template <class T>
inline void run_pooling_task(const native::PoolingCall& call, long long task) {
    const RoiRecord& args = *static_cast<const RoiRecord*>(call.record);
    const bool backward = call.region_begin != nullptr;
    // The tasks of one part of the channels come first, for all items, then those of the next part: the part's planes
    // stay in the cache.
    const long long items = backward ? static_cast<long long>(args.levels) * args.samples : args.count,
                    item = task % items;
    const ChannelRange channels = channel_range(args, static_cast<int>(task / items), call.channel_parts);
    if (backward)
        scatter_level<T>(call, args, static_cast<int>(item / args.samples), static_cast<int>(item % args.samples),
                         channels);
    else
        pool_region<T>(args, call.kind, item, channels);
}

void pooling_task(const native::PoolingCall& call, long long task) {
    if (call.dtype == dtype_of<float16>)
        run_pooling_task<float16>(call, task);
    else if (call.dtype == dtype_of<bfloat16>)
        run_pooling_task<bfloat16>(call, task);
    else if (call.dtype == dtype_of<float64>)
        run_pooling_task<float64>(call, task);
    else
        run_pooling_task<float32>(call, task);
}

}  // namespace cuaug
