#include "borders/border.cuh"
#include "ops/chain.cuh"
#include "geometry/affine.cuh"
#include "geometry/coordinate_map.cuh"
#include "geometry/perspective.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/convert.cuh"
#include "gpu/raw_stage.cuh"
#include "gpu/fixed_point.cuh"
#include "gpu/coordinate_map_reader.cuh"
#include "gpu/mean.cuh"
#include "gpu/region_scheduler.cuh"
#include "gpu/ragged.cuh"
#include "gpu/region.cuh"
#include "gpu/programmatic_launch.cuh"
#include "gpu/stage.cuh"
#include "gpu/batched_launch.cuh"
#include "gpu/transpose.cuh"
#include "ops/color.cuh"
#include "records/warp_image.cuh"
#include "samplers/antialiased.cuh"
#include "samplers/bilinear.cuh"
#include "samplers/bilinear_u8.cuh"
#include "samplers/bilinear_raw.cuh"
#include "samplers/bilinear_fixed.cuh"
#include "samplers/bilinear_global.cuh"
#include "samplers/nearest.cuh"
#include "samplers/sample_override.cuh"
#include "samplers/separable.cuh"

namespace cuaug {

// Pixels of bytes have an interpolation of their own.
template <class Sampler, class Out, class In>
constexpr bool uses_u8_bilinear =
    is_same_v<In, uint8> && is_same_v<Out, uint8> && is_same_v<base_sampler_t<Sampler>, Bilinear>;

// What becomes of the pixels behind the chain of ops: the result, and its mean luma as well. `BatchedLaunch` in its
// place means `StoreOnly`.
struct StoreOnly {};
struct StoreAndMean {};

// Whether boxes hold what is in memory as it lies there (gpu/raw_stage.cuh): of what is moved and no more, by a linear
// geometry, which does not leave them.
template <class Geometry, class Sampler, class Border, class From, class In, class Chain, class Out, class Epilogue>
constexpr bool is_raw_staged =
    is_same_v<Geometry, Affine> && is_same_v<Sampler, Bilinear> && is_same_v<Border, Constant> &&
    (is_same_v<From, Planar> || is_same_v<From, Packed>) && is_same_v<ComputeType<In>, float> && Chain::empty &&
    is_same_v<In, Out> && !is_same_v<Epilogue, StoreAndMean>;

// Whether all pixels are gathered from memory (samplers/bilinear_global.cuh): maps lead anywhere. Where there are
// boxes it takes registers that the rule has not.
template <class Geometry, class Sampler, class In>
constexpr bool samples_from_global =
    !Geometry::has_tile_bounds && is_same_v<ComputeType<In>, float> && is_same_v<base_sampler_t<Sampler>, Bilinear>;

// Blocks resident on a multiprocessor, as registers allow (gpu/stage.cuh, gpu/raw_stage.cuh).
template <class Geometry, class Sampler, class In, class From, int K, bool raw_staged>
constexpr int resident_blocks = [] {
    using R = ComputeType<In>;
    if constexpr (!Geometry::has_tile_bounds)
        return samples_from_global<Geometry, Sampler, In> && !Geometry::is_64bit
                   ? 4
                   : 1;  // three or five are slower (benchmarks/log/remap-gpu.md)
    else if constexpr (small_blocks<In, K, raw_staged>)
        return max_small_blocks;
    else
        return blocks < WordPixel<In, K>, R, base_sampler_t<Sampler>,
               Geometry::template TileMap<R>::is_affine && !is_same_v<typename LayoutTraits<From>::type, Strided> > ;
}();

// What `one` makes of 0 to N - 1.
template <class T, int N>
struct Array {
    T of[N];
};
template <int N, class One>
inline auto make_array(const One& one) {
    Array<decltype(one(0)), N> out;
#pragma unroll
    for (int i = 0; i < N; ++i) out.of[i] = one(i);
    return out;
}

// In the type of the result; levels of bytes are in it.
template <class Out, class Sampled>
inline auto as_sampled(const Sampled& sampled) {
    return to_raw_pixel<Out>(sampled);
}
template <class Out, int K>
inline BiasedU8<K> as_sampled(const BiasedU8<K>& levels) {
    return levels;
}

// A block makes a region of the output of K channels, in tiles as wide as the region, as few as have boxes that fit. A
// warp makes 32x4 pixels at a time, a thread 4 of them 8 columns apart, so that a warp samples patches of 8x4, or two
// pairs 16 apart. Of narrow elements adjacent ones are stored as words: planes are transposed by shuffles
// (gpu/transpose.cuh), packed pixels made in pairs where they are of 16 bits and boxes are copied, and else exchanged
// in shared memory. Grid: regions, the last of them in halves. Where a map leads is not known: there is one tile
// without a box, and its pixels come straight from memory. What precedes the pixels, all other warps waiting for the
// one that plans, takes its time whatever the region's height: they are tall where there are many.
template <class In, class From, int K, class Geometry, class Sampler, class Border, class Chain, class Out,
          class OutLayout, class Epilogue = StoreOnly>
__global__ void __launch_bounds__(
    block_threads<In, K, is_raw_staged<Geometry, Sampler, Border, From, In, Chain, Out, Epilogue>>,
    resident_blocks<Geometry, Sampler, In, From, K,
                    is_raw_staged<Geometry, Sampler, Border, From, In, Chain, Out, Epilogue>>)
    warp_image(const __grid_constant__ BatchedRecords<WarpRecord<Geometry>, Epilogue> records) {
    const WarpRecord<Geometry>& args = records.current();
    using InLayout = typename LayoutTraits<From>::type;
    using R = ComputeType<In>;
    using TileMap = typename Geometry::template TileMap<R>;
    using Pixels = WordPixel<In, K>;
    using Ops = typename Chain::template For<R, K>;
    // What the sampler makes: the result, or, for ops to work on, pixels as the images hold them.
    constexpr bool measured = is_same_v<Epilogue, StoreAndMean>, changed = measured || !Chain::empty;
    using Sampled = conditional_t<changed, In, Out>;
    constexpr bool may_skip =
        !measured && Ops::param_count > 0 &&
        is_same_v<In, Out>;  // the ops, for samples where all are idle: pixels are stored as they were sampled
    constexpr bool ragged = LayoutTraits<From>::ragged, filtered = is_same_v<Sampler, Antialiased>,
                   overrides = has_override<Sampler>;
    constexpr bool raw_staged = is_raw_staged<Geometry, Sampler, Border, From, In, Chain, Out, Epilogue>;
    constexpr int threads = block_threads<In, K, raw_staged>;  // not cuaug::threads
    constexpr bool bytes = uses_u8_bilinear<Sampler, Sampled, In>;
    constexpr bool fixed = Geometry::has_tile_bounds && TileMap::is_affine && is_same_v<R, float> &&
                           is_same_v<base_sampler_t<Sampler>, Bilinear> && (bytes || !filtered);
    constexpr double half_step = bytes ? weight_rounding : 1.0 / (1 << 24);  // of weights: rounding down rounds
    // Neither pairs nor what is transposed need memory for an exchange, which leaves more to boxes.
    constexpr bool narrow = sizeof(Out) < 4 && !is_same_v<OutLayout, Strided>,
                   planar = narrow && is_same_v<OutLayout, Planar>;
    constexpr bool paired = narrow && !planar && raw_staged && sizeof(Out) == 2 && uses_words<Out, K>,
                   exchanged = narrow && !planar && !paired;
    constexpr int exchange_pitch = 40;  // 4 rows of 8 pixels, 40 apart, fall into different banks
    __shared__ FourPixels<Out, K> exchange[exchanged ? threads / 32 * exchange_pitch : 1];
    __shared__ OutputRegion<In, K, Out, Ops> region;
    __shared__ RaggedImage own;  // the sample's, if ragged
    __shared__ Tile<TileMap, raw_staged> tiles[max_tiles];
    constexpr int bands =
        raw_staged && !small_blocks<In, K, raw_staged> ? 64 : 32;           // of the tallest regions (_grids.py)
    __shared__ conditional_t<fixed, FixedRowStarts<bands>, Int<0>> begins;  // the region's, at a multiple of 64 columns
    constexpr int box_bytes = block_bytes<In, K, raw_staged> - sizeof(exchange) - sizeof(region) -
                              (ragged ? sizeof(own) : 0) - sizeof(tiles) - (fixed ? sizeof(begins) : 0) -
                              (measured ? sizeof(R) * threads / 32 : 0) -
                              (overrides ? sizeof(BlockOverride<In, K>) : 0) - (raw_staged ? sizeof(Word[4]) : 0) - 32;
    __shared__ alignas(16) unsigned char box_memory[Geometry::has_tile_bounds ? box_bytes : 16];
    __shared__ R sums[measured ? threads / 32 : 1];
    __shared__ conditional_t<overrides, BlockOverride<In, K>, Int<0>> block_override;
    __shared__ int tile_count;
    __shared__ alignas(16) Word blank[4];  // what copied boxes are filled with
    using BoxLayout = RawBoxLayout<InLayout, In, K>;
    constexpr int plane = BoxLayout::plane_of(box_bytes);

    // From a shuffle the compiler knows that the index is the same for all lanes: what depends on it is no divergence
    // (as CUTLASS's canonical_warp_idx_sync).
    const int lane = threadIdx.x & 31, warp_index = __shfl_sync(0xffffffffu, threadIdx.x >> 5, 0);
    Pixels* pixels = reinterpret_cast<Pixels*>(box_memory);
    constexpr bool grouped = is_same_v<InLayout, Strided> || is_same_v<OutLayout, Strided>;

    const int groups = grouped ? (args.channels + K - 1) / K : 1;
    constexpr int side = raw_staged ? raw_region_width<sizeof(In) * K> : region_width<Pixels>;

    const RegionScheduler<K, side, grouped, raw_staged, WarpRecord<Geometry>> regions = {
        args, groups};  // the threads that only warp need not know where theirs lies
    // Warps that plan know whose region it is before they wait for what is in memory.
    constexpr int planners = overrides ? threads / 32 : Ops::param_count > 0 ? 5 : Border::has_window ? 4 : 3;
    RegionIndex mine = {};
    if (warp_index < planners) mine = regions.region_index();
    wait_for_previous();
    allow_next_launch();
    if (warp_index == 0) {
        // The matrix is asked for first, an entry a lane.
        [[maybe_unused]] const auto loaded = [&] {
            if constexpr (Geometry::has_tile_bounds)
                return args.geometry.load(mine.n, min(lane, Geometry::entries - 1));
            else
                return 0;
        }();
        // Each lane tries a tile of one of these cuts.
        constexpr TileSplit splits[] = {{1, 0, 65536}, {2, 1, 32768},  {3, 3, 21846},
                                        {4, 6, 16384}, {6, 10, 10923}, {max_tiles, 16, 4096}};
        TileSplit cut = splits[0];
        for (const TileSplit& finer : splits)
            if (lane >= finer.lane) cut = finer;
        const OutputRect at = regions.output_rect(mine);
        const int rows = ((at.rows - 1) * cut.share / 65536 + 4) & ~3, index = lane - cut.lane;
        const int first = min(index * rows, at.height), end = min(first + rows, at.height);
        const auto exact = [&] {
            if constexpr (Geometry::has_tile_bounds) {
                const double entry = args.geometry.to_double(loaded);
                return args.geometry.from_entries([&](int i) { return __shfl_sync(0xffffffffu, entry, i); });
            } else {
                return args.geometry.sample(at.n);
            }
        }();
        if constexpr (fixed) begins.compute(exact, at.left & ~63, at.top, at.height, half_step, lane);
        // Of a map there is one tile, and lanes of others must not read behind it.
        const int begin = Geometry::has_tile_bounds ? first : min(first, at.height - 1);
        Tile<TileMap, raw_staged> tile = {
            Geometry::template tile_map<R>(exact, at.left, at.top + begin), {}, first, end, {}};
        if constexpr (Geometry::has_tile_bounds) {
            Bounds<R> bounds;
            // Patches are sampled whole, so the box holds those that stick out of the output too.
            const int width = (at.width + 31) & ~31, height = (end - first + 3) & ~3;
            const bool known = tile.map.bounds(width, height, bounds) && (!fixed || fits_fixed_point(tile.map));
            if (known)
                tile.box = raw_staged ? raw_box_of<BoxLayout>(bounds, tile.map.base_x, Sampler::taps_before,
                                                              Sampler::taps_after, plane, 256)
                                      : staged_box_of<Pixels>(bounds, tile.map.base_x, Sampler::taps_before,
                                                              Sampler::taps_after, box_bytes,
                                                              fixed ? 256 : group<Pixels> * threads);
            if constexpr (raw_staged) tile.needed_rows = needed_rows_of<BoxLayout>(tile.map, width, height);
            if (tile.box.groups > 0)
                tile.map = tile.map.shifted_to(tile.box.x, tile.box.y, bytes ? weight_rounding : R(0));
        }
        const unsigned int fits = __ballot_sync(0xffffffffu, tile.box.groups > 0 || end <= first);
        int chosen = Geometry::has_tile_bounds ? max_tiles : 1;
        for (const TileSplit& coarser : {splits[4], splits[3], splits[2], splits[1], splits[0]})
            if ((~fits >> coarser.lane & (1u << coarser.tiles) - 1) == 0) chosen = coarser.tiles;
        const bool made = cut.tiles == chosen && first < end;
        if (made) tiles[index] = tile;
        if (made && end == at.height) tile_count = index + 1;
    } else if (warp_index == 1 && lane == 0) {
        const OutputRect at = regions.output_rect(mine);
        if constexpr (ragged) own = ragged_image(args, at.n);
        region.in = frame_of<In, From>(args, at.n, at.t, at.first);
        region.out = static_cast<Out*>(args.out.data) + at.n * args.out.n + at.t * args.out.t + at.first * args.out.c +
                     at.top * args.out.y + at.left * args.out.x;
        region.left = at.left;
        region.top = at.top;
        region.in_row = ragged ? own.y : static_cast<int>(args.in.y);
        region.out_row = static_cast<int>(args.out.y);
        region.bands = at.width > 32 ? threads / 64 : threads / 32;
        region.width = at.width;
        region.channels = args.channels - at.first;
        region.channel_group = at.t * groups + at.first / K;
    } else if (warp_index == 2) {
        const OutputRect at = regions.output_rect(mine);
        if (lane < K)
            reinterpret_cast<In*>(&region.fill)[lane] =
                saturate_cast<In>(fill_value(args.fill, at.n, min(at.first + lane, args.channels - 1)));
        if constexpr (raw_staged)
            write_fill_pattern<BoxLayout, In>(blank, lane,
                                              [&](int k) { return saturate_cast<In>(fill_value(args.fill, at.n, k)); });
    } else if (Border::has_window && warp_index == 3 && lane < 2) {
        const long long n = mine.n;
        const int extent = lane == 0 ? height_of<From>(args, n) : width_of<From>(args, n);
        const int from = min(max(static_cast<int>(entry(args.window, n, lane)), 0), extent - 1);
        (lane == 0 ? region.window.top : region.window.left) = from;
        (lane == 0 ? region.window.height : region.window.width) =
            min(max(static_cast<int>(entry(args.window, n, 2 + lane)), 1), extent - from);
    } else if (Ops::param_count > 0 && warp_index == 4) {
        const OutputRect at = regions.output_rect(mine);
        for (int params = lane; params < Ops::param_count; params += 32)
            region.params[params] =
                static_cast<R>(entry(args.parameters, at.n, Ops::column(params, 0, at.first, args.channels)));
        __syncwarp();
        if (lane == 0) {
            Ops::prepare(region.params, R(max_value<In>));
            if (may_skip) region.is_identity = Ops::of(region.params).is_identity();
        }
    } else if (overrides && warp_index > 4) {
        constexpr int others = 5 * 32;  // threads before those that have nothing else to read
        const OutputRect at = regions.output_rect(mine);
        if constexpr (overrides)
            read_override(args.sample_override, at.n, at.first, args.channels, threadIdx.x - others, threads - others,
                          block_override);
    }
    __syncthreads();

    // What follows reads the records anew after each barrier, but for what `image` takes of them, so that nothing of
    // one phase takes registers in another.
    [[maybe_unused]] R luma_sum = R(0);
    // Columns of a thread's four pixels of a row, from its first on.
    auto along = [](int i) { return paired ? adjacent<Out>(i) : 8 * i; };
    // Of which this is the first, in a region of this width.
    auto first_column = [&](int width) {
        return (width > 32 ? 32 * (warp_index & 1) : 0) + (paired ? 2 : 1) * (lane & 7);
    };
    // A tile from `sample`, which makes pixels from number `first` on of the thread's four of a row, `along` it from a
    // column on; rows are counted from the tile's first. `row_of` reads what it has to know of a band of four rows: a
    // turn ahead, as who reads it when it is wanted waits for it (3 % of the time), but for maps, whose entries would
    // spill. `together`: so many pixels, one where that is the exception, so that it takes no registers from the rule.
    // Ops take pixels as rounded as if they had been in memory. `ready` waits for the box, when all else is known.
    auto make = [&](const Tile<TileMap, raw_staged>& tile, const auto& row_of, const auto& sample, auto together,
                    const auto& ready) {
        constexpr int at_once = decltype(together)::value;
        [[maybe_unused]] constexpr bool transposing = planar && at_once == 4, pairing = paired && at_once == 4;
        const OutputRegion<In, K, Out, Ops> own = region;
        const int rows = tile.end - tile.first;
        FourPixels<Out, K>* exchange_row =
            exchange + (exchanged ? warp_index : 0) * exchange_pitch + (lane >> 3) * (exchange_pitch / 4);
        [[maybe_unused]] const FourPixels<Out, K>* exchange_from = exchange_row + (lane & 7);
        const int x_stride = column_stride<OutLayout, K>(args.out.x);
        const int twice = own.width > 32, patch = twice ? 32 * (warp_index & 1) : 0, column = first_column(own.width);
        const int stored = exchanged     ? patch + 4 * (lane & 7)
                           : transposing ? patch + transposed_column<Out>(lane)
                                         : column;
        long long offset[K];
        channel_offsets<OutLayout, K>(args.out.c, own.channels, offset);
        // Pixels of the thread from number `first` of a row's four on through the ops, which take shares of white.
        auto change = [&](auto& pixels, int first, int y) {
            PixelContext<R> context[at_once];
            for (int i = 0; i < at_once; ++i)
                context[i] = {region.left + column + along(first + i),
                              region.top + tile.first + y,
                              args.out_width,
                              args.out_height,
                              R(max_value<In>),
                              R(max_value<Out>),
                              region.channel_group};
            Ops::of(region.params).apply(pixels, context);
        };
        // Rows are made in bands of four, of which the thread has the row `below` the first. In bands from `end` on it
        // lies beyond the tile.
        int band = warp_index >> twice;
        const int below = lane >> 3, end = (rows - below + 3) >> 2;
        // In bands before ends[i] the thread may store its word i whole. `x`: the word's last column, from `stored` on;
        // 1 and 17 are `adjacent` of 1 and 3.
        [[maybe_unused]] auto end_of_words = [&](int x) {
            return opaque(args.out_vector_elements && stored + x < own.width ? end : 0);
        };
        [[maybe_unused]] const int ends[] = {end_of_words(paired || (planar && sizeof(Out) == 2) ? 1 : 3),
                                             end_of_words(17)};
        [[maybe_unused]] const Transposition<Out> transposed(lane);
        Out* out = own.out + stored * x_stride + mul_wide(tile.first + 4 * band + below, own.out_row);
        __builtin_assume(__isGlobal(out));  // counted up in the loop, which hides it
        const long long further = mul_wide(4 * own.bands, own.out_row);
        [[maybe_unused]] auto next = row_of(band);
        ready();
        for (const int all = (rows + 3) >> 2; band < all; band += own.bands, out += further) {
            const int y = 4 * band + below;
            const bool there = band < end;
            const auto row = [&] {
                if constexpr (Geometry::has_tile_bounds)
                    return next;
                else
                    return row_of(band);
            }();
            if constexpr (Geometry::has_tile_bounds) next = row_of(band + own.bands);
            auto write = [&](int x, const WordPixel<Out, K>& pixel) {
                if (there && stored + x < own.width)
                    for (int k = 0; k < K; ++k) out[offset[k] + x * x_stride] = to_raw_pixel(pixel).c[k];
            };
            [[maybe_unused]] WordPixel<Out, 4> line[K];  // of each channel the thread's four
            [[maybe_unused]] WordPixel<Out, K> left;     // of a pair
            auto finish = [&](int j, const WordPixel<Out, K>& pixel) {
                if constexpr (exchanged) {
                    reinterpret_cast<WordPixel<Out, K>*>(exchange_row)[(lane & 7) + 8 * j] = pixel;
                } else if constexpr (pairing) {
                    if (j % 2 == 0)
                        left = pixel;
                    else if (band < ends[j / 2])
                        store_pixel_pair(out + along(j - 1) * K, left, pixel);
                    else
                        write(along(j - 1), left), write(along(j), pixel);
                } else {
                    write(along(j), pixel);
                }
            };
            // As many as are made at once, from number `first` on.
            auto finish_all = [&](int first, const auto& pixels, const auto& packed) {
                if constexpr (transposing) {
                    for (int k = 0; k < K; ++k) line[k] = packed(channel_of(pixels, k));
                } else {
#pragma unroll
                    for (int i = 0; i < at_once; ++i) finish(first + i, packed(pixels[i]));
                }
            };
            auto as_made = [](const auto& pixel) { return to_word_pixel(pixel); };
#pragma unroll at_once
            for (int first = 0; first < 4; first += at_once) {
                // One by one where nothing keeps them: with the taps of four asked for first packed float32 takes 8 %
                // longer.
                if constexpr (!changed && !planar && !paired) {
                    for (int i = 0; i < at_once; ++i)
                        finish(first + i, to_word_pixel(sample(column, first + i, y, row, Int<1>()).of[0]));
                } else if constexpr (!changed) {
                    finish_all(first, sample(column, first, y, row, together).of, as_made);
                } else {
                    const auto sampled = sample(column, first, y, row, together);
                    if constexpr (may_skip)
                        if (region.is_identity) {
                            finish_all(first, sampled.of, as_made);
                            continue;
                        }
                    Pixel<R, K> made[at_once];
                    for (int i = 0; i < at_once; ++i) made[i] = to_unit_range<R>(sampled.of[i]);
                    change(made, first, y);
                    if constexpr (Chain::empty)
                        finish_all(first, sampled.of, as_made);
                    else
                        finish_all(first, made, [](const auto& pixel) {
                            return pack_unit_range < Out, is_same_v<In, uint8> && Ops::keeps_unit_range > (pixel);
                        });
                    if constexpr (measured)
                        for (int i = 0; i < at_once; ++i)
                            if (there && column + along(first + i) < own.width)
                                luma_sum += K == 3 ? luma(made[i]) : made[i].c[0];
                }
            }
            if constexpr (exchanged) {
                __syncwarp();
                const FourPixels<Out, K> four = *exchange_from;
                __syncwarp();
                if (band < ends[0])
                    store_four<OutLayout, Out, K>(out, offset, four);
                else
                    for (int j = 0; j < 4; ++j) write(j, four.v[j]);
            } else if constexpr (transposing) {
                constexpr int each = elements_per_word<Out>;
                for (int k = 0; k < K; ++k) line[k] = transposed(line[k]);
                for (int first = 0; first < 4; first += each) {
                    if (band < ends[first / each]) {
                        store_words(out + adjacent<Out>(first), offset, line, first / each);
                    } else {
                        for (int i = first; i < first + each; ++i)
                            if (there && stored + adjacent<Out>(i) < own.width)
                                for (int k = 0; k < K; ++k)
                                    out[offset[k] + adjacent<Out>(i)] = to_raw_pixel(line[k]).c[i];
                    }
                }
            }
        }
    };
    int i = 0;
    do {
        const SourceBox box = tiles[i].box;
        const int base_x = tiles[i].map.base_x, base_y = tiles[i].map.base_y, in_row = region.in_row;
        const In* in = region.in;
        // Read here, and not where it is first used: behind branches that wait for other reads.
        if constexpr (raw_staged)
            asm volatile(""
                         :
                         : "r"(box.groups), "r"(box.height), "r"(box.pitch), "r"(box.rows_per_pass),
                           "f"(box.inv_groups), "r"(base_x), "r"(base_y), "r"(in_row), "l"(in));
        const ImageWindow window = Border::has_window ? region.window
                                   : ragged           ? ImageWindow{0, 0, own.height, own.width}
                                                      : ImageWindow{0, 0, args.in_height, args.in_width};
        auto image = [&]() {
            Image<In, K, Border> image = {in,
                                          {},
                                          in_row,
                                          column_stride<InLayout, K>(ragged ? own.x : args.in.x),
                                          window,
                                          ragged ? own.width : args.in_width,
                                          base_x,
                                          base_y,
                                          to_raw_pixel(region.fill)};
            channel_offsets<InLayout, K>(ragged ? own.c : args.in.c, region.channels, image.offset);
            return image;
        };
        const bool staged = Geometry::has_tile_bounds && box.groups > 0;
        if (staged) {
            const int aligned = ragged ? own.vector_elements : args.in_vector_elements;
            if constexpr (raw_staged)
                stage_raw<InLayout>(image(), box, tiles[i].needed_rows, aligned, box_memory, plane);
            else
                stage<InLayout>(image(), box, aligned, region.fill, pixels);
        }
        if constexpr (overrides)
            if (threadIdx.x == 0)
                block_override.applies_to_tile =
                    block_override.any() &&
                    holds_neighbours(tiles[i], region.left, region.top, region.width, group<Pixels>);
        if constexpr (!raw_staged) __syncthreads();
        // Copies are waited for when all else is ready.
        auto arrived = [&] {
            if constexpr (raw_staged) {
                Word any = 0;
                for (int j = 0; j < BoxLayout::pattern_words; ++j) any |= blank[j];
                wait_for_copies();
                if (any != 0) fill_outside<InLayout>(image(), box, tiles[i].needed_rows, blank, box_memory, plane);
                __syncthreads();
            }
        };
        auto no_wait = [] {};

        const Tile<TileMap, raw_staged> tile = tiles[i];
        auto from_memory = [&](const Image<In, K, Border>& from, const Point<R>& p) {
            if constexpr (samples_from_global<Geometry, Sampler, In>)
                return as_sampled<Sampled>(
                    sample_global<bytes, conditional_t<Geometry::is_64bit, long long, Word>>(from, p));
            else
                return in_range(p) ? to_raw_pixel<Sampled>(BaseSampler<Sampler>::type::sample(from, p))
                                   : to_raw_pixel<Sampled>(from.fill);
        };
        if constexpr (!Geometry::has_tile_bounds) {
            const Image<In, K, Border> from = image();
            __builtin_assume(__isGlobal(from.data));
            const int column = opaque(first_column(region.width));
            const CoordinateMapReader<R, Geometry::is_64bit || sizeof(R) == 8, along(1)> maps(
                args.geometry, tile.map, column, region.width, tile.end - tile.first);
            make(
                tile, [&](int band) { return maps.row(4 * band + (lane >> 3)); },
                [&](int, int first, int y, const auto& entries, auto count) {
                    return make_array<decltype(count)::value>(
                        [&](int i) { return from_memory(from, maps.point(entries, first + i, y)); });
                },
                Int<4>(), no_wait);
        } else {
            auto nothing = [](int) { return Int<0>(); };
            auto point = [&](int x, int y) { return tile.map.at(static_cast<R>(x), static_cast<R>(y)); };
            bool done = false;
            if constexpr (overrides) {
                done = block_override.applies_to_tile;  // from shared memory: worked out by each thread it would take
                                                        // registers from what samples
                if (done)
                    make(
                        tile, nothing,
                        [&](int x, int first, int y, auto, auto) {
                            const int column = region.left + x + along(first), row = region.top + tiles[i].first + y;
                            const bool inside =
                                column > 0 && column < args.out_width - 1 && row > 0 && row < args.out_height - 1;
                            const WordPixel<In, K> made =
                                override_pixel(block_override, StagedBox<In, K>{pixels, tiles[i].box.pitch},
                                               column - tiles[i].map.base_x, row - tiles[i].map.base_y, inside);
                            return make_array<1>([&](int) {
                                if constexpr (is_same_v<Sampled, In>)
                                    return made;
                                else
                                    return to_raw_pixel<Sampled>(to_raw_pixel(made));
                            });
                        },
                        Int<1>(), no_wait);
            }
            if (!done && staged) {
                const bool downscaled = filtered && is_downscaling(tile.map);
                const AxisFilters<R> filters = axis_filters<R>(tile.map, window);
                [[maybe_unused]] const auto steps = [&] {
                    if constexpr (fixed)
                        return begins.from(region.left & 63, tile.first, lane >> 3, tile.map.base_x, tile.map.base_y);
                    else
                        return nothing(0);
                }();
                auto row_at = [&](int band) {
                    if constexpr (fixed && !overrides)
                        return steps.row_at(band);
                    else
                        return nothing(band);
                };
                auto point_at = [&](int x, int y, const auto& row) {
                    if constexpr (!fixed)
                        return point(x, y);
                    else if constexpr (overrides)
                        return steps.at(x, steps.row_at(y >> 2));  // no registers to spare
                    else
                        return steps.at(x, row);
                };
                [[maybe_unused]] const Word corner =
                    static_cast<Word>(__cvta_generic_to_shared(box_memory)) + BoxLayout::before(tile.map.base_x);
                make(
                    tile, row_at,
                    [&](int x, int first, int y, const auto& row, auto count) {
                        constexpr int n = decltype(count)::value;
                        if constexpr (filtered)
                            if (downscaled)
                                return make_array<n>([&](int i) {
                                    if constexpr (bytes)
                                        return antialiased(pixels, tile.box.pitch, point(x + along(first + i), y),
                                                           filters);
                                    else
                                        return to_raw_pixel<Sampled>(
                                            antialiased(StagedBox<In, K>{pixels, tile.box.pitch},
                                                        point(x + along(first + i), y), filters));
                                });
                        return make_array<n>([&](int i) {
                            const int column = x + along(first + i);
                            if constexpr (raw_staged) {
                                const RawBox<InLayout, In, K, plane> taps = {corner, tile.box.pitch};
                                return as_sampled<Sampled>(bilinear(taps, point_at(column, y, row)));
                            } else {
                                const StagedBox<In, K> taps = {pixels, tile.box.pitch};
                                if constexpr (bytes)
                                    return bilinear(pixels, tile.box.pitch, point_at(column, y, row));
                                else if constexpr (fixed)
                                    return as_sampled<Sampled>(bilinear(taps, point_at(column, y, row)));
                                else
                                    return as_sampled<Sampled>(
                                        BaseSampler<Sampler>::type::sample(taps, point(column, y)));
                            }
                        });
                    },
                    Int<(Sampler::taps_after > 2) ? 1 : 4>(), arrived);
            } else if (!done) {
                const Image<In, K, Border> from = image();
                // The boxes of what is filtered fit unless they are nowhere.
                make(
                    tile, nothing,
                    [&](int x, int first, int y, auto, auto) {
                        return make_array<1>([&](int) {
                            return filtered ? to_raw_pixel<Sampled>(from.fill)
                                            : from_memory(from, point(x + along(first), y));
                        });
                    },
                    Int<1>(), no_wait);
            }
        }
        if constexpr (Geometry::has_tile_bounds) __syncthreads();  // the box is read until here
    } while (++i < tile_count);
    if constexpr (measured) {
        const OutputRect at =
            regions.output_rect(regions.region_index());  // anew, so that it takes no registers meanwhile
        // Narrow regions are as tall as wide ones: what is measured is not copied.
        const int across = (args.out_width + side - 1) / side;
        const long long part =
            (at.t * args.full_width.regions + at.top / args.full_width.region_rows) * across + at.left / side;
        const double scale =
            static_cast<double>(max_value<In>) / (static_cast<double>(args.frames) * args.out_height * args.out_width);
        store_block_sum(
            luma_sum, sums, scale,
            static_cast<double*>(const_cast<void*>(args.partial_sums.data)) + at.n * args.partial_sums.n + part);
    }
}

}  // namespace cuaug
