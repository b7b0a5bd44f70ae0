#pragma once

#include "borders/border.cuh"
#include "geometry/affine.cuh"
#include "gpu/batched_launch.cuh"
#include "gpu/fixed_point.cuh"
#include "gpu/packed_store.cuh"
#include "gpu/ragged.cuh"
#include "gpu/region.cuh"
#include "gpu/region_scheduler.cuh"
#include "gpu/transpose.cuh"
#include "samplers/antialiased.cuh"
#include "samplers/bilinear.cuh"
#include "samplers/sample_override.cuh"

// What the phases of warp_image (plan, stage, sample, store) know at compile time, and the shared memory through which
// they pass data to each other.

namespace cuaug {

// Epilogues, which follow the chain of ops: store the pixels, or store them and sum their luma. A third one,
// `BatchedLaunch`, stores the pixels of several launches.
struct StoreOnly {};
struct StoreAndMean {};

// Whether source boxes are raw (gpu/raw_box.cuh): for affine bilinear warps without ops and without a change of dtype,
// whose border surrounds the whole image. `stages_raw` of _passes/kernel_config.py mirrors the rule. `From`: the
// input's layout, in a ragged batch Ragged<Layout>.
template <class Geometry, class Sampler, class Border, class From, class In, class Chain, class Out, class Epilogue>
constexpr bool is_raw_staged =
    is_same_v<Geometry, Affine> && is_same_v<Sampler, Bilinear> && !Border::has_window &&
    (is_same_v<From, Planar> || is_same_v<From, Packed>) && is_same_v<ComputeType<In>, float> && Chain::empty &&
    is_same_v<In, Out> && !is_same_v<Epilogue, StoreAndMean>;

// Whether uint8 pixels are interpolated with integer weights (samplers/bilinear_u8.cuh).
template <class Sampler, class Out, class In>
constexpr bool uses_u8_bilinear =
    is_same_v<In, uint8> && is_same_v<Out, uint8> && is_same_v<base_sampler_t<Sampler>, Bilinear>;

// Whether the sampler of samplers/bilinear_global.cuh is used: for bilinear interpolation through coordinate maps,
// whose tiles have no source boxes, because their sources have no known bounds. Other geometries do not use it for
// their few tiles without a source box: it would take registers from the sampler of staged boxes.
template <class Geometry, class Sampler, class In>
constexpr bool samples_from_global =
    !Geometry::has_tile_bounds && is_same_v<ComputeType<In>, float> && is_same_v<base_sampler_t<Sampler>, Bilinear>;

// Blocks resident on a multiprocessor. As a launch bound it limits the registers. `by_memory`: `BlockSize::resident`,
// 0 if shared memory does not limit the number.
template <class Geometry, class Sampler, class In, class From, int K, class Chain, int by_memory>
constexpr int resident_blocks = [] {
    using R = ComputeType<In>;
    constexpr bool is_plain =
        Geometry::template TileMap<R>::is_affine && !is_same_v<typename LayoutTraits<From>::type, Strided>;
    if constexpr (!Geometry::has_tile_bounds)
        // Three or five are slower (benchmarks/log/remap-gpu.md).
        return samples_from_global<Geometry, Sampler, In> && !Geometry::is_64bit ? 4 : 1;
    else if constexpr (by_memory > 0)
        return by_memory;
    else if constexpr (is_same_v<In, uint8> && is_same_v<base_sampler_t<Sampler>, Bilinear> && Chain::empty &&
                       !Geometry::template TileMap<R>::is_affine)
        // Without this bound the kernel has 69 registers, three blocks fit, and it takes 7 % longer
        // (benchmarks/log/warp-phases-gpu.md).
        return 4;
    else
        return staged_resident_blocks<WordPixel<In, K>, R, base_sampler_t<Sampler>, is_plain>;
}();

template <class In_, class From_, int K_, class Geometry_, class Sampler_, class Border_, class Chain_, class Out_,
          class OutLayout_, class Epilogue_>
struct WarpConfig {
    using In = In_;
    using From = From_;
    using Geometry = Geometry_;
    using Sampler = Sampler_;
    using Border = Border_;
    using Chain = Chain_;
    using Out = Out_;
    using OutLayout = typename OutputTraits<OutLayout_>::type;
    static constexpr int K = K_;

    using Record = WarpRecord<Geometry>;
    using R = ComputeType<In>;
    using InLayout = typename LayoutTraits<From>::type;
    using TileMap = typename Geometry::template TileMap<R>;
    using Ops = typename Chain::template For<R, K>;
    using Pixels = WordPixel<In, K>;

    static constexpr bool is_ragged = LayoutTraits<From>::ragged, has_override = cuaug::has_override<Sampler>,
                          is_antialiased = is_same_v<Sampler, Antialiased>;
    static constexpr bool raw_staged = is_raw_staged<Geometry, Sampler, Border, From, In, Chain, Out, Epilogue_>;
    static constexpr BlockSize block_size = cuaug::block_size<In, K, raw_staged, OutLayout_>;
    static constexpr int threads = block_size.threads, warps = threads / 32,
                         resident = resident_blocks<Geometry, Sampler, In, From, K, Chain, block_size.resident>;

    // Sampling rounds pixels to SampledDtype: the input's dtype where ops follow, else the output's.
    static constexpr bool has_mean = is_same_v<Epilogue_, StoreAndMean>, applies_ops = has_mean || !Chain::empty;
    using SampledDtype = conditional_t<applies_ops, In, Out>;
    // Pixels of a sample for which no op is active are stored as they were sampled.
    static constexpr bool may_skip_ops = !has_mean && Ops::param_count > 0 && is_same_v<In, Out>;

    static constexpr bool uses_integer_weights = uses_u8_bilinear<Sampler, SampledDtype, In>;
    static constexpr bool is_fixed_point = Geometry::has_tile_bounds && TileMap::is_affine && is_same_v<R, float> &&
                                           is_same_v<base_sampler_t<Sampler>, Bilinear> &&
                                           (uses_integer_weights || !is_antialiased);
    // Half a step of the interpolation weights, added to coordinates so that rounding down rounds to nearest.
    static constexpr double half_weight_step = uses_integer_weights ? u8_half_weight_step : 1.0 / (1 << 24);
    // Bands of four rows in the tallest regions (_passes/grids.py).
    static constexpr int bands = raw_staged && !(small_blocks<In, K, raw_staged> && K > 1) ? 64 : 32;

    // Elements narrower than 32 bits are stored as whole words. Planar output is transposed with warp shuffles. Packed
    // 16-bit output is written in pairs when the source box is staged raw, and otherwise exchanged through shared
    // memory. Pairs and transposed words need no shared memory, which leaves more to source boxes.
    static constexpr bool stores_words = sizeof(Out) < 4 && !is_same_v<OutLayout, Strided>;
    static constexpr bool stores_transposed = stores_words && is_same_v<OutLayout, Planar>;
    static constexpr bool stores_pairs =
        stores_words && !stores_transposed && raw_staged && sizeof(Out) == 2 && uses_words<Out, K>;
    static constexpr bool stores_via_shared = stores_words && !stores_transposed && !stores_pairs;
    // Packed pixels of three 32-bit elements are stored in patches (gpu/packed_store.cuh).
    static constexpr bool stores_patches = stores_by_warps<Out, OutLayout, K>;
    // FourPixels of one warp in `Exchange`: 8, which are a patch of 32 pixels; or 40, which are 4 rows of 8 FourPixels,
    // each followed by 2 unused ones. These rows are 40 pixels apart, and 8 pixels of each fall into different banks.
    static constexpr int warp_exchange_size = stores_patches ? 8 : 40;

    static constexpr bool split_channels = is_same_v<InLayout, Strided> || is_same_v<OutLayout, Strided>;
    static constexpr int max_region_width =
        raw_staged ? raw_region_width<sizeof(In) * K, is_fill_border<Border>> : region_width<Pixels>;
    using Scheduler = RegionScheduler<K, max_region_width, split_channels, raw_staged, Record>;
    using Region = OutputRegion<In, K, Out, Ops>;
    using WarpTile = Tile<TileMap, raw_staged>;
    using RowStarts = conditional_t<is_fixed_point, FixedRowStarts<bands>, Int<0>>;
    using Override = conditional_t<has_override, BlockOverride<In, K>, Int<0>>;
    using Exchange = FourPixels<Out, K>[stores_via_shared || stores_patches ? warps * warp_exchange_size : 1];
    using Tiles = WarpTile[max_tiles];

    // The shared memory of a block that is left for the source box; 32 bytes are for the alignment of all other parts.
    static constexpr int box_bytes =
        block_size.bytes - sizeof(Exchange) - sizeof(Region) - (is_ragged ? sizeof(RaggedImage) : 0) - sizeof(Tiles) -
        (is_fixed_point ? sizeof(RowStarts) : 0) - (has_mean ? sizeof(R) * threads / 32 : 0) -
        (has_override ? sizeof(Override) : 0) - (raw_staged ? sizeof(Word[4]) : 0) - 32;
    using BoxMemory = unsigned char[Geometry::has_tile_bounds ? box_bytes : 16];
    using BoxLayout = RawBoxLayout<InLayout, In, K>;
    static constexpr int box_plane_bytes = BoxLayout::plane_bytes_of(box_bytes);

    // Column of pixel `i` of a thread's four in a row, counted from the column of pixel 0.
    static constexpr int column_offset(int i) { return stores_pairs ? element_column<Out>(i) : 8 * i; }
};

// A thread's view of its block: the record, and the block's shared memory.
template <class C>
struct WarpBlock {
    const typename C::Record& args;
    using FillPattern = Word[4];
    static typename C::Exchange& exchange() {
        __shared__ typename C::Exchange exchange_;
        return exchange_;
    }
    static typename C::Region& region() {
        __shared__ typename C::Region region_;
        return region_;
    }
    static RaggedImage& ragged_image() {
        __shared__ RaggedImage ragged_image_;
        return ragged_image_;
    }
    static typename C::Tiles& tiles() {
        __shared__ typename C::Tiles tiles_;
        return tiles_;
    }
    static int& tile_count() {
        __shared__ int tile_count_;
        return tile_count_;
    }
    static typename C::RowStarts& row_starts() {
        __shared__ typename C::RowStarts row_starts_;
        return row_starts_;
    }
    static typename C::BoxMemory& box_memory() {
        __shared__ alignas(16) typename C::BoxMemory box_memory_;
        return box_memory_;
    }
    static FillPattern& fill_pattern() {
        __shared__ alignas(16) FillPattern fill_pattern_;
        return fill_pattern_;
    }
    static typename C::Override& block_override() {
        __shared__ typename C::Override block_override_;
        return block_override_;
    }
    int lane, warp_index;

    typename C::Pixels* pixels() const { return reinterpret_cast<typename C::Pixels*>(box_memory()); }

    // Column of the first of the thread's four pixels of a row, in a region of this width.
    int first_column(int width) const {
        return (width > 32 ? 32 * (warp_index & 1) : 0) + (C::stores_pairs ? 2 : 1) * (lane & 7);
    }
};

}  // namespace cuaug
