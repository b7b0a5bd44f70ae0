#include "gpu/programmatic_launch.cuh"
#include "gpu/raw_stage.cuh"
#include "gpu/reduce.cuh"
#include "gpu/warp_epilogue.cuh"
#include "gpu/warp_plan.cuh"

namespace cuaug {

// The input of one tile.
template <class C>
struct TileSource {
    const WarpBlock<C>& block;
    const int base_x, base_y, in_y_stride;
    const typename C::In* const in;
    const ImageWindow window;

    TileSource(const WarpBlock<C>& block, const typename C::WarpTile& tile, const SourceBox& box)
        : block(block),
          base_x(tile.map.base_x),
          base_y(tile.map.base_y),
          in_y_stride(block.region().in_y_stride),
          in(block.region().in),
          window(image_window(block)) {
        // Reads these values here: at their first use, the reads would come after branches that wait for other reads.
        if constexpr (C::raw_staged)
            asm volatile(""
                         :
                         : "r"(box.groups), "r"(box.height), "r"(box.pitch), "r"(box.rows_per_pass),
                           "f"(box.inv_groups), "r"(base_x), "r"(base_y), "r"(in_y_stride), "l"(in));
    }

    static ImageWindow image_window(const WarpBlock<C>& block) {
        return C::Border::has_window ? block.region().window
               : C::is_ragged        ? ImageWindow{0, 0, block.ragged_image().height, block.ragged_image().width}
                                     : ImageWindow{0, 0, block.args.in_height, block.args.in_width};
    }

    Image<typename C::In, C::K, typename C::Border> image() const {
        using InLayout = typename C::InLayout;
        const auto& args = block.args;
        const RaggedImage& ragged = block.ragged_image();
        Image<typename C::In, C::K, typename C::Border> image = {
            in,
            {},
            in_y_stride,
            column_stride<InLayout, C::K>(C::is_ragged ? ragged.x_stride : args.in.x_stride),
            window,
            C::is_ragged ? ragged.width : args.in_width,
            base_x,
            base_y,
            to_raw_pixel(block.region().fill)};
        channel_offsets<InLayout, C::K>(C::is_ragged ? ragged.c_stride : args.in.c_stride, block.region().channels,
                                        image.offset);
        return image;
    }

    int vector_elements() const {
        return C::is_ragged ? block.ragged_image().vector_elements : block.args.in_vector_elements;
    }
};

// A tile whose coordinates are read from maps. They have no known bounds: there is no source box.
template <class C>
inline void make_mapped_tile(const WarpBlock<C>& block, int index, typename C::R& luma_sum) {
    const SourceBox box = block.tiles()[index].box;
    const TileSource<C> source(block, block.tiles()[index], box);
    __syncthreads();
    const typename C::WarpTile tile = block.tiles()[index];
    const auto image = source.image();
    __builtin_assume(__isGlobal(image.data));
    const typename MapSampler<C>::Reader maps(block.args.geometry, tile.map,
                                              opaque(block.first_column(block.region().width)), block.region().width,
                                              tile.end_row - tile.first_row);
    make_tile(block, tile, MapSampler<C>{image, maps, block.lane >> 3}, Int<4>(), [] {}, luma_sum);
}

// A tile whose source box does not fit into shared memory.
template <class C>
inline void make_unstaged_tile(const WarpBlock<C>& block, const TileSource<C>& source, const typename C::WarpTile& tile,
                               typename C::R& luma_sum) {
    const auto image = source.image();
    make_tile(block, tile, GlobalSampler<C>{image, tile.map}, Int<1>(), [] {}, luma_sum);
}

// A tile from a box that holds the input as it lies in memory.
template <class C>
inline void make_raw_staged_tile(const WarpBlock<C>& block, int index, typename C::R& luma_sum) {
    using InLayout = typename C::InLayout;
    const SourceBox box = block.tiles()[index].box;
    const TileSource<C> source(block, block.tiles()[index], box);
    const bool is_staged = box.groups > 0;
    if (is_staged)
        stage_raw<InLayout>(source.image(), box, block.tiles()[index].needed_rows, source.vector_elements(),
                            block.box_memory(), C::box_plane_bytes);
    auto wait = [&] {
        wait_for_copies();
        if constexpr (is_fill_border<typename C::Border>) {
            Word any_fill = 0;
            for (int j = 0; j < C::BoxLayout::pattern_words; ++j) any_fill |= block.fill_pattern()[j];
            if (any_fill != 0) {
                // Other threads' zeros are written before the fill.
                if (may_have_words_with_fill<typename C::BoxLayout>(source.window.width,
                                                                    source.vector_elements() * sizeof(typename C::In)))
                    __syncthreads();
                fill_outside<InLayout>(source.image(), box, block.tiles()[index].needed_rows, block.fill_pattern(),
                                       block.box_memory(), C::box_plane_bytes);
            }
        }
        __syncthreads();
    };
    const typename C::WarpTile tile = block.tiles()[index];
    if (is_staged) {
        const Word corner = static_cast<Word>(__cvta_generic_to_shared(block.box_memory())) +
                            C::BoxLayout::bytes_before(tile.map.base_x);
        make_tile(block, tile, RawBoxSampler<C>{{block, tile}, tile.box.pitch, corner}, Int<4>(), wait, luma_sum);
    } else {
        make_unstaged_tile(block, source, tile, luma_sum);
    }
    __syncthreads();  // the box is read until here
}

// A tile from a box of staged pixels.
template <class C>
inline void make_staged_tile(const WarpBlock<C>& block, int index, typename C::R& luma_sum) {
    const SourceBox box = block.tiles()[index].box;
    const TileSource<C> source(block, block.tiles()[index], box);
    const bool is_staged = box.groups > 0;
    if (is_staged)
        stage<typename C::InLayout>(source.image(), box, source.vector_elements(), block.region().fill, block.pixels());
    if constexpr (C::has_override)
        if (threadIdx.x == 0)
            block.block_override().applies_to_tile =
                block.block_override().is_active() &&
                holds_neighbours(block.tiles()[index], block.region().left, block.region().top, block.region().width,
                                 stage_pixels<typename C::Pixels>);
    __syncthreads();
    const typename C::WarpTile tile = block.tiles()[index];
    bool is_made = false;
    if constexpr (C::has_override) {
        is_made =
            block.block_override().applies_to_tile;  // computed by each thread, it would take registers from samplers
        if (is_made) make_tile(block, tile, OverrideSampler<C>{block, block.tiles()[index]}, Int<1>(), [] {}, luma_sum);
    }
    if (!is_made && is_staged) {
        const bool is_downscaled = C::is_antialiased && is_downscaling(tile.map);
        const AxisFilters<typename C::R> filters = axis_filters<typename C::R>(tile.map, source.window);
        make_tile(
            block, tile, StagedBoxSampler<C>{{block, tile}, {block.pixels(), tile.box.pitch}, is_downscaled, filters},
            Int<(C::Sampler::taps_after > 2) ? 1 : 4>(), [] {}, luma_sum);
    } else if (!is_made) {
        make_unstaged_tile(block, source, tile, luma_sum);
    }
    __syncthreads();  // the box is read until here
}

// The block's part of the sample's mean luma.
template <class C>
inline void store_mean(const WarpBlock<C>& block, const typename C::Scheduler& regions, typename C::R luma_sum,
                       typename C::R* sums) {
    const auto& args = block.args;
    // Computed again: kept from the block plan, it would occupy registers meanwhile.
    const OutputRect rect = regions.output_rect(regions.region_index());
    // The remainder's regions are as tall as the others: only raw-staged ones differ, and those have no mean.
    const int columns = (args.out_width + C::max_region_width - 1) / C::max_region_width;
    const long long part = (rect.t * args.full_width.regions + rect.top / args.full_width.region_rows) * columns +
                           rect.left / C::max_region_width;
    const double scale = static_cast<double>(max_value<typename C::In>) /
                         (static_cast<double>(args.frames) * args.out_height * args.out_width);
    store_block_sum(
        luma_sum, sums, scale,
        static_cast<double*>(const_cast<void*>(args.partial_sums.data)) + rect.n * args.partial_sums.n_stride + part);
}

// A block makes a region of the output of K channels, in tiles as wide as the region: the fewest tiles whose source
// boxes fit into shared memory. A warp makes 4 rows of 32 pixels at a time, a thread four of a row's pixels, 8 columns
// apart or in two pairs 16 apart, so that a warp samples patches of 4 rows of 8 pixels. Coordinate maps have unknown
// bounds: the region is one tile without a source box, sampled from global memory. A few warps plan while the others
// wait; with a sample override, all warps plan. Planning takes the same time for any height, so regions are tall when
// there are many. Grid: (regions, 1, launches of a batched launch); each of the last regions has two blocks, one per
// half (gpu/region_scheduler.cuh).
template <class In, class From, int K, class Geometry, class Sampler, class Border, class Chain, class Out,
          class OutLayout, class Epilogue = StoreOnly>
__global__ void __launch_bounds__(
    WarpConfig<In, From, K, Geometry, Sampler, Border, Chain, Out, OutLayout, Epilogue>::threads,
    WarpConfig<In, From, K, Geometry, Sampler, Border, Chain, Out, OutLayout, Epilogue>::resident)
    warp_image(const __grid_constant__ BatchedRecords<WarpRecord<Geometry>, Epilogue> records) {
    using C = WarpConfig<In, From, K, Geometry, Sampler, Border, Chain, Out, OutLayout, Epilogue>;
    using R = ComputeType<In>;
    __shared__ R sums[C::has_mean ? C::warps : 1];

    const typename C::Record& args = records.current();
    // From a shuffle the compiler knows that the index is the same for all lanes: what depends on it does not diverge
    // (as CUTLASS's canonical_warp_idx_sync).
    const int lane = threadIdx.x & 31, warp_index = __shfl_sync(0xffffffffu, threadIdx.x >> 5, 0);
    const WarpBlock<C> block = {args, lane, warp_index};
    const typename C::Scheduler regions = {args, C::split_channels ? (args.channels + K - 1) / K : 1};

    // Threads that only sample need not know where their region lies.
    RegionIndex index = {};
    if (warp_index < planning_warps<C>) index = regions.region_index();
    wait_for_previous();
    allow_next_launch();
    plan_region(block, regions, index);
    __syncthreads();

    // The phases read the records again after each barrier, so that none holds registers for another.
    R luma_sum = R(0);
    int i = 0;
    do {
        // Before the loop, this branch would take a register from some samplers.
        if constexpr (can_copy<C>)
            if (block.block_override().identity_rows > 0 && !block.block_override().sharpens())
                return copy_region(block);
        if constexpr (!Geometry::has_tile_bounds)
            make_mapped_tile(block, i, luma_sum);
        else if constexpr (C::raw_staged)
            make_raw_staged_tile(block, i, luma_sum);
        else
            make_staged_tile(block, i, luma_sum);
    } while (++i < block.tile_count());
    if constexpr (C::has_mean) store_mean(block, regions, luma_sum, sums);
}

}  // namespace cuaug
