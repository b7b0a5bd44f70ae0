#pragma once

#include "geometry/coordinate_map.cuh"
#include "geometry/perspective.cuh"
#include "gpu/raw_stage.cuh"
#include "gpu/warp_config.cuh"
#include "gpu/warp_copy.cuh"

// The first phase of warp_image: which region the block makes, in which tiles, and from which source boxes. The parts
// of the plan are computed at the same time, by different warps.

namespace cuaug {

template <class C, class Matrix>
inline typename C::WarpTile plan_tile(const WarpBlock<C>& block, const OutputRect& rect, const Matrix& matrix,
                                      int first, int end) {
    using Geometry = typename C::Geometry;
    using Sampler = typename C::Sampler;
    using R = typename C::R;
    // A coordinate map has one tile, and the lanes that plan others must not read beyond the map.
    const int begin = Geometry::has_tile_bounds ? first : min(first, rect.height - 1);
    typename C::WarpTile tile = {
        Geometry::template tile_map<R>(matrix, rect.left, rect.top + begin), {}, first, end, {}};
    if constexpr (Geometry::has_tile_bounds) {
        Bounds<R> bounds;
        // A warp samples 4 rows of 32 pixels at a time, also those beyond the output: the box holds their sources.
        const int width = (rect.width + 31) & ~31, height = (end - first + 3) & ~3;
        // Pixels beyond coordinate_limit get the fill, whatever the border. So no box may reach there with a border
        // that does not fill.
        const bool is_bounded =
            tile.map.bounds(width, height, bounds) && (!C::is_fixed_point || fits_fixed_point(tile.map)) &&
            (is_fill_border<typename C::Border> || in_range(bounds, tile.map.base_x, tile.map.base_y));
        if (is_bounded)
            tile.box = C::raw_staged
                           ? raw_box_of<typename C::BoxLayout>(bounds, tile.map.base_x, Sampler::taps_before,
                                                               Sampler::taps_after, C::box_plane_bytes, 256, C::threads)
                           : staged_box_of<typename C::Pixels>(
                                 bounds, tile.map.base_x, Sampler::taps_before, Sampler::taps_after, C::box_bytes,
                                 C::is_fixed_point ? 256 : stage_pixels<typename C::Pixels> * C::threads);
        if constexpr (C::raw_staged) tile.needed_rows = needed_rows_of<typename C::BoxLayout>(tile.map, width, height);
        if (tile.box.groups > 0)
            tile.map =
                tile.map.shifted_to(tile.box.x, tile.box.y, C::uses_integer_weights ? u8_half_weight_step : R(0));
    }
    return tile;
}

// One warp: chooses the split with the fewest tiles whose source boxes all fit, or else the one with the most tiles.
// Each lane plans one tile of a split.
template <class C>
inline void plan_tiles(const WarpBlock<C>& block, const typename C::Scheduler& regions,
                       const RegionIndex& region_index) {
    using Geometry = typename C::Geometry;
    const auto& args = block.args;
    const auto& geometry = args.geometry;
    const int lane = block.lane;
    // The matrix is loaded first, one entry per lane.
    [[maybe_unused]] const auto raw_entry = [&] {
        if constexpr (Geometry::has_tile_bounds)
            return geometry.load(region_index.n, min(lane, Geometry::entries - 1));
        else
            return 0;
    }();
    constexpr TileSplit splits[] = {{1, 0, 65536}, {2, 1, 32768},  {3, 3, 21846},
                                    {4, 6, 16384}, {6, 10, 10923}, {max_tiles, 16, 65536 / max_tiles}};
    static_assert(splits[5].first_lane + max_tiles == 32, "each lane plans a tile of one split");
    TileSplit split = splits[0];
    for (const TileSplit& finer : splits)
        if (lane >= finer.first_lane) split = finer;
    const OutputRect rect = regions.output_rect(region_index);
    const int rows = ((rect.rows - 1) * split.inv_tiles / 65536 + 4) & ~3, index = lane - split.first_lane;
    const int first = min(index * rows, rect.height), end = min(first + rows, rect.height);
    const auto matrix = [&] {
        if constexpr (Geometry::has_tile_bounds) {
            const double entry = geometry.to_double(raw_entry);
            return geometry.from_entries([&](int i) { return __shfl_sync(0xffffffffu, entry, i); });
        } else {
            return geometry.sample(rect.n);
        }
    }();
    if constexpr (C::is_fixed_point)
        block.row_starts().compute(matrix, row_start_column(rect.left), rect.top, rect.height, C::half_weight_step,
                                   lane);
    if constexpr (can_copy<C>)
        if (lane == 0)
            block.block_override().identity_rows =
                is_identity(matrix) && args.in_width == args.out_width && args.in_height == args.out_height
                    ? rect.height
                    : 0;
    const typename C::WarpTile tile = plan_tile(block, rect, matrix, first, end);
    const unsigned int fit_mask = __ballot_sync(0xffffffffu, tile.box.groups > 0 || end <= first);
    int chosen = Geometry::has_tile_bounds ? max_tiles : 1;
    for (const TileSplit& coarser : {splits[4], splits[3], splits[2], splits[1], splits[0]})
        if ((~fit_mask >> coarser.first_lane & (1u << coarser.tiles) - 1) == 0) chosen = coarser.tiles;
    const bool is_chosen = split.tiles == chosen && first < end;
    if (is_chosen) block.tiles()[index] = tile;
    if (is_chosen && end == rect.height) block.tile_count() = index + 1;
}

// One thread: where the input frame and the region lie in memory.
template <class C>
inline void plan_memory(const WarpBlock<C>& block, const typename C::Scheduler& regions, const RegionIndex& index) {
    using Out = typename C::Out;
    const auto& args = block.args;
    typename C::Region& region = block.region();
    const OutputRect rect = regions.output_rect(index);
    if constexpr (C::is_ragged) block.ragged_image() = ragged_image(args, rect.n);
    region.in = frame_of<typename C::In, typename C::From>(args, rect.n, rect.t, rect.first_channel);
    region.out = static_cast<Out*>(args.out.data) + rect.n * args.out.n_stride + rect.t * args.out.t_stride +
                 rect.first_channel * args.out.c_stride + rect.top * args.out.y_stride + rect.left * args.out.x_stride;
    region.left = rect.left;
    region.top = rect.top;
    region.in_y_stride = C::is_ragged ? block.ragged_image().y_stride : static_cast<int>(args.in.y_stride);
    region.out_y_stride = static_cast<int>(args.out.y_stride);
    region.band_step = rect.width > 32 ? C::threads / 64 : C::threads / 32;
    region.width = rect.width;
    region.channels = args.channels - rect.first_channel;
    region.channel_group = rect.t * regions.channel_groups + rect.first_channel / C::K;
}

// One warp: the values outside the image.
template <class C>
inline void plan_fill(const WarpBlock<C>& block, const typename C::Scheduler& regions, const RegionIndex& index) {
    using In = typename C::In;
    const auto& args = block.args;
    const OutputRect rect = regions.output_rect(index);
    if (block.lane < C::K)
        reinterpret_cast<In*>(&block.region().fill)[block.lane] =
            saturate_cast<In>(fill_value(args.fill, rect.n, min(rect.first_channel + block.lane, args.channels - 1)));
    if constexpr (C::raw_staged && is_fill_border<typename C::Border>)
        write_fill_pattern<typename C::BoxLayout, In>(block.fill_pattern(), block.lane, [&](int k) {
            return saturate_cast<In>(fill_value(args.fill, rect.n, k));
        });
}

// Two threads, one for each axis: the part of the image that the border surrounds.
template <class C>
inline void plan_window(const WarpBlock<C>& block, long long n) {
    using From = typename C::From;
    const auto& args = block.args;
    ImageWindow& window = block.region().window;
    const int extent = block.lane == 0 ? height_of<From>(args, n) : width_of<From>(args, n);
    const int first = min(max(static_cast<int>(entry(args.window, n, block.lane)), 0), extent - 1);
    (block.lane == 0 ? window.top : window.left) = first;
    (block.lane == 0 ? window.height : window.width) =
        min(max(static_cast<int>(entry(args.window, n, 2 + block.lane)), 1), extent - first);
}

// One warp: the parameters of the ops.
template <class C>
inline void plan_params(const WarpBlock<C>& block, const typename C::Scheduler& regions, const RegionIndex& index) {
    using Ops = typename C::Ops;
    using R = typename C::R;
    const auto& args = block.args;
    typename C::Region& region = block.region();
    const OutputRect rect = regions.output_rect(index);
    for (int i = block.lane; i < Ops::param_count; i += 32)
        region.params[i] =
            static_cast<R>(entry(args.parameters, rect.n, Ops::column(i, 0, rect.first_channel, args.channels)));
    __syncwarp();
    if (block.lane == 0) {
        Ops::prepare(region.params, R(max_value<typename C::In>));
        if (C::may_skip_ops) region.ops_are_identity = Ops::of(region.params).is_identity();
    }
}

// Warp 0 plans tiles, warp 1 memory, warp 2 the fill; all warps from `override_warp` on read the override.
constexpr int window_warp = 3, params_warp = 4, override_warp = 5;

// How many warps `plan_region` uses: its last warp index plus one. Only these need the region's indices.
template <class C>
constexpr int planning_warps = C::has_override           ? C::warps
                               : C::Ops::param_count > 0 ? params_warp + 1
                               : C::Border::has_window   ? window_warp + 1
                                                         : window_warp;

template <class C>
inline void plan_region(const WarpBlock<C>& block, const typename C::Scheduler& regions, const RegionIndex& index) {
    // Warp 1 of a block of two makes the fill, too.
    static_assert(C::has_override
                      ? C::warps > override_warp
                      : planning_warps<C> <= C::warps || (C::warps == 2 && planning_warps<C> == window_warp));
    const int warp_index = block.warp_index;
    if (warp_index == 0) {
        plan_tiles(block, regions, index);
    } else if (warp_index == 1) {
        if (block.lane == 0) plan_memory(block, regions, index);
        if (C::warps == 2) plan_fill(block, regions, index);
    } else if (warp_index == 2) {
        plan_fill(block, regions, index);
    } else if (C::Border::has_window && warp_index == window_warp && block.lane < 2) {
        plan_window(block, index.n);
    } else if (C::Ops::param_count > 0 && warp_index == params_warp) {
        plan_params(block, regions, index);
    } else if (C::has_override && warp_index >= override_warp) {
        constexpr int busy_threads = 32 * override_warp;  // of the warps above
        const OutputRect rect = regions.output_rect(index);
        if constexpr (C::has_override)
            read_override(block.args.sample_override, rect.n, rect.first_channel, block.args.channels,
                          threadIdx.x - busy_threads, C::threads - busy_threads, block.block_override());
    }
}

}  // namespace cuaug
