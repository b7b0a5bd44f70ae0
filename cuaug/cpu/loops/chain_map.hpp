#pragma once

#include "chain.hpp"
#include "level_map.hpp"
#include "segment_tasks.hpp"

// Chains of channelwise ops on uint8 images: the chain is applied to each of the 256 levels once, and its results are
// looked up for the pixels.

namespace cuaug {

// `min_mapped_levels`: for frames of fewer levels (pixels x channels) the chain itself takes less time than a map.
// `min_levels_per_task`: tasks have at least this many, except the last one of a frame, because each makes the map
// anew.
constexpr long long min_mapped_levels = 2048, min_levels_per_task = 65536;

inline long long levels_per_row(const PointwiseRecord& args) {
    return static_cast<long long>(args.in_width) * args.channels;
}

// Whether the call maps levels. Ops of a user may depend on a pixel's position or its other channels.
inline bool maps_levels(const native::PointwiseCall& call, const PointwiseRecord& args) {
    if (call.in_dtype != dtype_of<uint8> || call.out_dtype != dtype_of<uint8> || call.out_channels != args.channels ||
        levels_per_row(args) * args.in_height < min_mapped_levels)
        return false;
    for (int i = 0; i < call.op_count; ++i)
        if (!is_channelwise(call.ops[i])) return false;
    return true;
}

// The chain's results for sample n.
inline LevelMap level_map(const native::PointwiseCall& call, const PointwiseRecord& args, long long n,
                          ChainWorkspace<float>& workspace) {
    static_assert(segment_width >= 256, "the levels are one segment");
    const float max_level = max_value<uint8>;
    LevelMap map;
    for (int level = 0; level < 256; ++level) map.table[level] = static_cast<uint8>(level);
    load_row(map.table, 1, 256, 1.0f / max_level, workspace.channel[0]);
    prepare_chain<float, 1>(call, args, n, 0, max_level, workspace);
    apply_chain<float, 1>(call, {0, 0, 256, 1, max_level, max_level, 0}, 256, workspace);
    scale_values(workspace.channel[0], 256, max_level);
    store_row(workspace.channel[0], 256, map.table, 1);
    map.find_bits();
    return map;
}

inline int rows_per_map_task(const PointwiseRecord& args) {
    const long long rows = (min_levels_per_task + levels_per_row(args) - 1) / levels_per_row(args);
    return static_cast<int>(rows < args.in_height ? rows : args.in_height);
}

// Maps the pixels of a task's rows.
inline void map_rows(const native::PointwiseCall& call, const PointwiseRecord& args, const TaskRows& rows,
                     ChainWorkspace<float>& workspace) {
    const LevelMap map = level_map(call, args, rows.n, workspace);
    const uint8* in = static_cast<const uint8*>(args.in.data) + rows.n * args.in.n_stride + rows.t * args.in.t_stride;
    uint8* out = static_cast<uint8*>(args.out.data) + rows.n * args.out.n_stride + rows.t * args.out.t_stride;
    auto packed = [&](const BatchView& view) { return view.c_stride == 1 && view.x_stride == args.channels; };
    const bool are_packed = packed(args.in) && packed(args.out) && levels_per_row(args) < (1LL << 31);
    const int count = are_packed ? args.in_width * args.channels : args.in_width;
    for (int c = 0; c < (are_packed ? 1 : args.channels); ++c)
        for (int y = rows.top; y < rows.bottom; ++y)
            map_run(map, in + c * args.in.c_stride + y * args.in.y_stride, are_packed ? 1 : args.in.x_stride, count,
                    out + c * args.out.c_stride + y * args.out.y_stride, are_packed ? 1 : args.out.x_stride);
}

}  // namespace cuaug
