#include "border.cuh"
#include "chain.cuh"
#include "geometry/affine.cuh"
#include "geometry/grid.cuh"
#include "geometry/perspective.cuh"
#include "gpu/bytes.cuh"
#include "gpu/convert.cuh"
#include "gpu/mean.cuh"
#include "gpu/tile.cuh"
#include "ops/colour.cuh"
#include "record.cuh"
#include "sampler/antialiased.cuh"
#include "sampler/bilinear.cuh"
#include "sampler/bilinear_bytes.cuh"
#include "sampler/nearest.cuh"
#include "sampler/separable.cuh"

namespace cuaug {

// What the threads of a block share about their region.
template <class In, int K, class Out, class Ops>
struct alignas(16) Region {
    const In* in;        // the frame, at the first of the region's channels
    Out* out;            // the region's first pixel
    int in_row, out_row; // strides; read from here the compiler knows that they are of 32 bits
    int rows;            // that the block makes at a time
    int left, top;
    int width;           // of the output
    int channels;        // from the first on
    int plane;           // of four channels, counted through the frames
    Window window;       // if the border goes around one
    Stored<In, K> fill;
    Real<In> field[Ops::fields + 1];
};

// Some rows of the region, made from one box.
template <class Local>
struct alignas(16) Tile {
    Local local;         // counted from the box's corner, or from the base where there is no box
    FixedSteps steps;    // the same, where the sampler takes them
    Box box;
    int first, end;
};

// Pixels of bytes have an interpolation of their own.
template <class Sampler, class Out, class In>
constexpr bool by_bytes = Same<In, uint8>::value && Same<Out, uint8>::value && Same<typename Unreduced<Sampler>::type, Bilinear>::value;

// What `one` makes of 0 to N - 1.
template <class T, int N> struct Several { T of[N]; };
template <int N, class One>
inline auto several(const One& one) {
    Several<decltype(one(0)), N> out;
#pragma unroll
    for (int i = 0; i < N; ++i) out.of[i] = one(i);
    return out;
}

// What becomes of the pixels behind the chain of ops: the result, or, of results that are stored as they are sampled, the mean luma.
struct Changed {};
struct Measured {};

// A block makes regions of the output of K channels, each in tiles as wide as the region, as few as have boxes that fit. A warp makes 32x4
// pixels at a time, a thread 4 of them 8 columns apart, so that a warp samples patches of 8x4. Narrow elements are then exchanged
// within the warp, so that a thread stores 4 adjacent ones. Grid: blocks; the first of them make two regions each and plan them together,
// since seven warps wait for the one that plans, the others one each, so that all end together (u8 46.1 us without pairs, 43.9 with 88 % of
// the regions in pairs, 46.3 with all).
template <class In, class InLayout, int K, class Geometry, class Sampler, class Border, class Chain, class Out, class OutLayout, class Use = Changed>
__global__ void __launch_bounds__(threads, Geometry::bounded ? blocks<Stored<In, K>, Real<In>, typename Unreduced<Sampler>::type, Geometry::template Local<Real<In>>::linear && !Same<InLayout, Strided>::value> : 1)
warp(const __grid_constant__ Warp<Geometry> args) {
    using R = Real<In>;
    using Local = typename Geometry::template Local<R>;
    using Pixels = Stored<In, K>;
    using Ops = typename Chain::template Of<R, K>;
    // What the sampler makes: the result, or, for ops to work on, pixels as the images hold them.
    constexpr bool measured = Same<Use, Measured>::value, changed = measured || !Chain::empty;
    using Sampled = typename Select<changed, In, Out>::type;
    constexpr bool filtered = Same<Sampler, Antialiased>::value;
    constexpr bool bytes = by_bytes<Sampler, Sampled, In>, fixed = bytes && Local::linear;
    constexpr bool exchanged = sizeof(Out) < 4;
    constexpr int exchange_pitch = 40;  // 4 rows of 8 pixels, 40 apart, fall into different banks
    __shared__ FourPixels<Out, K> exchange[exchanged ? threads / 32 * exchange_pitch : 1];
    __shared__ Region<In, K, Out, Ops> regions[2];
    __shared__ Tile<Local> tiles[2][most_tiles];
    __shared__ double sums[measured ? threads / 32 : 1];
    constexpr int box_bytes = shared_bytes - sizeof(exchange) - sizeof(regions) - sizeof(tiles) - sizeof(sums) - 32;
    __shared__ alignas(16) unsigned char box_memory[Geometry::bounded ? box_bytes : 16];
    __shared__ int tile_counts[2];

    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
    Pixels* pixels = reinterpret_cast<Pixels*>(box_memory);
    constexpr bool grouped = Same<InLayout, Strided>::value || Same<OutLayout, Strided>::value;

    const int groups = grouped ? (args.channels + K - 1) / K : 1;
    const unsigned int across = (args.out_width + region_width<Pixels> - 1) / region_width<Pixels>, down = (args.out_height + region_rows - 1) / region_rows;
    const unsigned int pairs = static_cast<unsigned int>(args.samples) * args.frames * groups * across * down - gridDim.x;
    const int count = blockIdx.x < pairs ? 2 : 1;

    // Where the block's region i lies, and whose it is: the threads that only warp need not know.
    struct Place { long long n; int t, first, left, top, width, height; };
    auto place = [&](int i) {
        const unsigned int region = blockIdx.x + min(blockIdx.x, pairs) + i, row = region / across, slice = row / down;
        const unsigned int frame = grouped ? slice / groups : slice, n = args.frames == 1 ? frame : frame / args.frames;
        const int left = (region - row * across) * region_width<Pixels>, top = (row - slice * down) * region_rows;
        return Place{n, static_cast<int>(frame - n * args.frames), grouped ? static_cast<int>(slice - frame * groups) * K : 0, left, top,
                     min(region_width<Pixels>, args.out_width - left), min(region_rows, args.out_height - top)};
    };
    if (warp_index == 0) {
        // Half a warp plans a region: its lanes try 1 tile, 2, 4 and 8 at once.
        const int region = lane >> 4, attempt = lane & 15, level = 31 - __clz(attempt + 1), rows = region_rows >> level, index = attempt + 1 - (1 << level);
        const Place at = place(min(region, count - 1));
        auto matrix = [&]() {
            if constexpr (Geometry::bounded) {
                const double mine = args.geometry.entry(at.n, min(attempt, Geometry::entries - 1));
                return args.geometry.from_entries([&](int i) { return __shfl_sync(0xffffffffu, mine, i, 16); });
            } else {
                return args.geometry.sample(at.n);
            }
        };
        Tile<Local> tile = {Geometry::template local<R>(matrix(), at.left, at.top), {}, {}, index * rows, min((index + 1) * rows, at.height)};
        if constexpr (Geometry::bounded) {
            Bounds<R> bounds;
            // Patches are sampled whole, so the box holds those that stick out of the output too.
            const int right = (at.width + 31) & ~31, bottom = tile.first + ((tile.end - tile.first + 3) & ~3);
            if (tile.local.bounds(right, tile.first, bottom, bounds)) tile.box = box_of<Pixels>(bounds, tile.local.base_x, Sampler::before, Sampler::after, box_bytes, fixed ? 256 : group<Pixels> * threads);
            if constexpr (fixed) tile.steps = fixed_steps(tile.local, tile.box.x, tile.box.y);
            if (tile.box.across > 0) tile.local = tile.local.from(tile.box.x, tile.box.y, bytes ? byte_nudge : R(0));
        }
        auto half_ballot = [&](bool vote) { return __ballot_sync(0xffffffffu, vote) >> (lane & 16) & 0xffff; };
        const unsigned int fits = half_ballot(tile.box.across > 0 || tile.end <= tile.first);
        const int chosen = !Geometry::bounded || fits & 1 ? 0 : (fits & 6) == 6 ? 1 : (fits & 0x78) == 0x78 ? 2 : 3;
        const bool made = level == chosen && tile.first < tile.end;
        const int made_count = __popc(half_ballot(made));
        if (made) tiles[region][index] = tile;
        if (attempt == 0) tile_counts[region] = made_count;
    } else if (warp_index == 1 && lane < count) {
        const Place at = place(lane);
        Region<In, K, Out, Ops>& region = regions[lane];
        region.in = static_cast<const In*>(args.in.data) + at.n * args.in.n + at.t * args.in.t + at.first * args.in.c;
        region.out = static_cast<Out*>(args.out.data) + at.n * args.out.n + at.t * args.out.t + at.first * args.out.c + at.top * args.out.y + at.left * args.out.x;
        region.left = at.left;
        region.top = at.top;
        region.in_row = static_cast<int>(args.in.y);
        region.out_row = static_cast<int>(args.out.y);
        region.rows = at.width > 32 ? threads / 16 : threads / 8;
        region.width = at.width;
        region.channels = args.channels - at.first;
        region.plane = at.t * groups + at.first / K;
    } else if (warp_index == 2 && lane < count * K) {
        const int i = lane / K, k = lane % K;
        const Place at = place(i);
        reinterpret_cast<In*>(&regions[i].fill)[k] = from_real<In>(fill_value(args.fill, at.n, min(at.first + k, args.channels - 1)));
    } else if (Border::windowed && warp_index == 3 && lane < count * 2) {
        const int i = lane / 2, axis = lane % 2, extent = axis == 0 ? args.in_height : args.in_width;
        const long long n = place(i).n;
        const int from = min(max(static_cast<int>(entry(args.window, n, axis)), 0), extent - 1);
        (axis == 0 ? regions[i].window.top : regions[i].window.left) = from;
        (axis == 0 ? regions[i].window.height : regions[i].window.width) = min(max(static_cast<int>(entry(args.window, n, 2 + axis)), 1), extent - from);
    } else if (Ops::fields > 0 && warp_index == 4) {
        for (int i = 0; i < count; ++i) {
            const Place at = place(i);
            for (int field = lane; field < Ops::fields; field += 32)
                regions[i].field[field] = static_cast<R>(entry(args.parameters, at.n, Ops::column(field, 0, at.first, args.channels)));
        }
        __syncwarp();
        if (lane < count) Ops::prepare(regions[lane].field, R(white<In>));
    }
    __syncthreads();

    // What follows reads the records anew after each barrier, so that nothing of one phase takes registers in another.
    for (int r = 0; r < count; ++r) {
        [[maybe_unused]] double sum = 0.0;
        // Rows `begin` to before `end` of the region from `sample`, which makes pixels 8 columns apart; `together`: so many, one where that is the
        // exception, so that it takes no registers from the rule. Ops take pixels as rounded as if they had been in memory.
        auto make = [&](int begin, int end, const auto& sample, auto together) {
            constexpr int at_once = decltype(together)::value;
            const Region<In, K, Out, Ops> region = regions[r];
            [[maybe_unused]] R part_sum = R(0);
            FourPixels<Out, K>* exchange_row = exchange + (exchanged ? warp_index : 0) * exchange_pitch + (lane >> 3) * (exchange_pitch / 4);
            [[maybe_unused]] const FourPixels<Out, K>* exchange_from = exchange_row + (lane & 7);
            const int x_stride = column_stride<OutLayout, K>(args.out.x);
            const int twice = region.width > 32, column = (twice ? 32 * (warp_index & 1) : 0) + (lane & 7);
            const int stored = exchanged ? column + 3 * (lane & 7) : column;
            [[maybe_unused]] const bool vectors = !Same<OutLayout, Strided>::value && args.out_aligned && stored + 3 < region.width;
            long long offset[K];
            channel_offsets<OutLayout, K>(args.out.c, region.channels, offset);
            // Pixels of the thread from number `first` of a row's four on through the ops, which take shares of white.
            auto change = [&](auto& pixels, int first, int y) {
                Where<R> where[at_once];
                for (int i = 0; i < at_once; ++i) {
                    where[i] = {regions[r].left + column + 8 * (first + i), regions[r].top + y, args.out_width, args.out_height, R(white<In>), R(white<Out>), regions[r].plane};
                    pixels[i] = (R(1) / R(white<In>)) * pixels[i];
                }
                Ops::of(regions[r].field).apply(pixels, where);
            };
            for (int y = begin + 4 * (warp_index >> twice) + (lane >> 3); y < end + (lane >> 3); y += region.rows) {
                Out* out = region.out + stored * x_stride + static_cast<long long>(y) * region.out_row;
                auto write = [&](int x, const Stored<Out, K>& pixel) {
                    if (y < end && stored + x < region.width)
                        for (int k = 0; k < K; ++k) out[offset[k] + x * x_stride] = to_texel(pixel).c[k];
                };
                auto finish = [&](int j, const Stored<Out, K>& pixel) {
                    if constexpr (exchanged) reinterpret_cast<Stored<Out, K>*>(exchange_row)[(lane & 7) + 8 * j] = pixel;
                    else write(8 * j, pixel);
                };
#pragma unroll at_once
                for (int first = 0; first < 4; first += at_once) {
                    if constexpr (!changed) {
                        for (int i = 0; i < at_once; ++i) finish(first + i, to_stored(sample(column + 8 * (first + i), y, Count<1>()).of[0]));
                    } else {
                        const auto sampled = sample(column + 8 * first, y, together);
                        if constexpr (measured)
                            for (int i = 0; i < at_once; ++i) finish(first + i, to_stored(sampled.of[i]));
                        Pixel<R, K> made[at_once];
                        for (int i = 0; i < at_once; ++i) made[i] = to_pixel<R>(sampled.of[i]);
                        change(made, first, y);
                        for (int i = 0; i < at_once; ++i) {
                            if constexpr (!measured) finish(first + i, packed<Out>(R(white<Out>) * made[i]));
                            else if (y < end && column + 8 * (first + i) < region.width) part_sum += K == 3 ? luma(made[i]) : made[i].c[0];
                        }
                    }
                }
                if constexpr (exchanged) {
                    __syncwarp();
                    const FourPixels<Out, K> four = *exchange_from;
                    __syncwarp();
                    if (vectors) {
                        if (y < end) store_four<OutLayout, Out, K>(out, offset, four);
                    } else {
                        for (int j = 0; j < 4; ++j) write(j, four.v[j]);
                    }
                }
            }
            if constexpr (measured) sum += static_cast<double>(part_sum);
        };
        for (int i = 0; i < tile_counts[r]; ++i) {
            const Window window = Border::windowed ? regions[r].window : Window{0, 0, args.in_height, args.in_width};
            auto image = [&]() {
                Image<In, K, Border> image = {regions[r].in, {}, regions[r].in_row, column_stride<InLayout, K>(args.in.x), window, args.in_width,
                                              tiles[r][i].local.base_x, tiles[r][i].local.base_y, to_texel(regions[r].fill)};
                channel_offsets<InLayout, K>(args.in.c, regions[r].channels, image.offset);
                return image;
            };
            const bool staged = Geometry::bounded && tiles[r][i].box.across > 0;
            if (staged) stage<InLayout>(image(), tiles[r][i].box, args.in_aligned, regions[r].fill, pixels);
            __syncthreads();

            const Tile<Local> tile = tiles[r][i];
            auto point = [&](int x, int y) { return tile.local.at(static_cast<R>(x), static_cast<R>(y)); };
            if (staged) {
                const bool reduced = filtered && reduces(tile.local);
                const Reaches<R> reaches = reaches_of<R>(tile.local, window);
                make(tile.first, tile.end, [&](int x, int y, auto count) {
                    constexpr int n = decltype(count)::value;
                    if constexpr (filtered)
                        if (reduced) return several<n>([&](int i) {
                            if constexpr (bytes) return antialiased(pixels, tile.box.pitch, point(x + 8 * i, y), reaches);
                            else return to_texel<Sampled>(antialiased(Staged<In, K>{pixels, tile.box.pitch}, point(x + 8 * i, y), reaches));
                        });
                    return several<n>([&](int i) {
                        if constexpr (fixed) return bilinear(pixels, tile.box.pitch, tile.steps.at(x + 8 * i, y));
                        else if constexpr (bytes) return bilinear(pixels, tile.box.pitch, point(x + 8 * i, y));
                        else return to_texel<Sampled>(Unreduced<Sampler>::type::sample(Staged<In, K>{pixels, tile.box.pitch}, point(x + 8 * i, y)));
                    });
                }, Count<filtered ? 1 : 4>());
            } else {
                const Image<In, K, Border> from = image();
                make(tile.first, tile.end, [&](int x, int y, auto count) {
                    return several<decltype(count)::value>([&](int i) {
                        const Point<R> p = point(x + 8 * i, y);
                        // A map ends where the output does, and patches are sampled whole. The boxes of what is filtered fit unless they are nowhere.
                        const bool beyond = !Geometry::bounded && (x + 8 * i >= regions[r].width || y >= tile.end);
                        if (beyond || filtered || !in_range(p)) return to_texel<Sampled>(from.fill);
                        return to_texel<Sampled>(Unreduced<Sampler>::type::sample(from, p));
                    });
                }, Count<Geometry::bounded ? 1 : 4>());
            }
            __syncthreads();
        }
        if constexpr (measured) {
            const Place at = place(r);
            const int parts = args.frames * across * down, part = at.t * across * down + at.top / region_rows * across + at.left / region_width<Pixels>;
            const double scale = static_cast<double>(white<In>) / (static_cast<double>(args.frames) * args.out_height * args.out_width);
            write_mean(sum, sums, Parts::of(args.parts, at.n), part, parts, scale, const_cast<double*>(static_cast<const double*>(args.mean.data)) + at.n * args.mean.n);
        }
    }
}

}  // namespace cuaug
