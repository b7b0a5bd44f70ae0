#pragma once

#include "geometry/tile_map.cuh"
#include "gpu/stage.cuh"
#include "samplers/image.cuh"

// Raw boxes: source boxes that hold the input as it lies in memory, in planes or in rows of packed pixels. What a tile
// needs is copied to shared memory in chunks of 16 bytes, or in smaller units if the alignment requires it, and on
// compute capability 8.0 and newer without passing through registers. Samplers read elements, or words of them. With
// bilinear interpolation this costs less than staging pixels (stage.cuh).

namespace cuaug {

constexpr int chunk_bytes = 16;

// Raw-staging blocks plan and copy for longer than they sample, so more resident blocks keep the multiprocessor
// sampling. Blocks of uint8 with up to three channels can be small: they have half the threads, and regions of half the
// rows unless there is one channel, whose boxes are small. Counting 1 KiB reserved per block, seven fit into 228 KiB
// and three into 100 KiB (benchmarks/log/warp-small-blocks.md). Boxes of four channels, rotated by 45 degrees, would
// often not fit.
template <class T, int K, bool raw_staged>
constexpr bool small_blocks = raw_staged && sizeof(T) == 1 && K < 4;

// The layout of an output of at most 32x32 pixels from an input of at most 64x64. A small block makes a whole frame of
// it, with a quarter of `warp_image_threads`: more threads would repeat the same set-up for few pixels
// (benchmarks/log/warp-small-outputs.md).
template <class Layout>
struct SmallOutput {};

template <class Layout>
struct OutputTraits {
    using type = Layout;
    static constexpr bool small = false;
};

template <class Layout>
struct OutputTraits<SmallOutput<Layout>> {
    using type = Layout;
    static constexpr bool small = true;
};

struct BlockSize {
    int threads, bytes;  // of shared memory
    int resident;  // blocks on a multiprocessor, if shared memory limits them; a launch bound makes registers match
};

template <class T, int K, bool raw_staged, class OutLayout>
constexpr BlockSize block_size = !small_blocks<T, K, raw_staged>  ? BlockSize{warp_image_threads, shared_bytes, 0}
                                 : OutputTraits<OutLayout>::small ? BlockSize{64, 15500, 14}
                                                                  : BlockSize{128, 32000, 7};

// Columns of an output region. For pixels of up to 6 bytes 64 are faster, but source boxes of rotated regions then fit
// less often. Pixels of 6 bytes have 64 only with `Constant`: with other borders, sampling without a box costs more
// (benchmarks/log/warp-raw-borders.md).
template <int PixelBytes, bool fills>
constexpr int raw_region_width = PixelBytes <= (fills ? 6 : 4) ? 64 : 32;

// How pixels lie in a raw box.
template <class Layout, class T, int K>
struct RawBoxLayout {
    static constexpr bool packed = is_same_v<Layout, Packed>;
    static constexpr int channels = K, planes = packed ? 1 : K,
                         step = (packed ? K : 1) * sizeof(T);  // bytes from pixel to pixel
    // Words of the fill pattern (raw_stage.cuh). Packed pixels: after so many the fill repeats along a row; planar
    // pixels: one per channel.
    static constexpr int pattern_words = packed ? (step % 4 == 0 ? step / 4 : step % 2 ? step : step / 2) : K;

    // Bytes from one plane to the next in a box of this many bytes.
    static constexpr int plane_bytes_of(int box_bytes) { return box_bytes / planes & -chunk_bytes; }

    // Bytes from the start of its chunk to the pixel in this column.
    static int bytes_before(int column) { return step * column & (chunk_bytes - 1); }
};

// Chunks from row to row, at least `chunks`, for few bank conflicts between a warp's taps. Simulated over rotations
// within 30 degrees of a patch of 8x4 pixels, or of every other pixel of 16x4 for packed 16-bit elements: pixels of 1,
// 2, 3, 6 and 12 bytes have the fewest possible, others up to 15 % more.
template <int Step>
inline int chunks_per_row(int chunks) {
    const int rest = chunks & 7, multiple = chunks - rest;
    if (Step == 1) return chunks | 1;
    if (Step == 2) return multiple + (rest <= 3 ? 3 : rest <= 5 ? 5 : 11);
    return multiple + (rest <= 2 ? 2 : rest <= 6 ? 6 : 10);
}

// As `staged_box_of` of stage.cuh, with `groups` counted in chunks and `pitch` in bytes.
template <class BoxLayout, class R>
inline SourceBox raw_box_of(const Bounds<R>& bounds, int base_x, int taps_before, int taps_after, int plane_bytes,
                            int max_side, int threads) {
    const R slack = R(1.0 / 256), limit = R(1 << 20);
    const bool near =
        (bounds.x_low > -limit) & (bounds.x_high < limit) & (bounds.y_low > -limit) & (bounds.y_high < limit);
    const int x = static_cast<int>(floor(bounds.x_low - slack)) - taps_before,
              y = static_cast<int>(floor(bounds.y_low - slack)) - taps_before;
    const int width = static_cast<int>(floor(bounds.x_high + slack)) + taps_after - x + 1,
              height = static_cast<int>(floor(bounds.y_high + slack)) + taps_after - y + 1;
    const int chunks = (BoxLayout::bytes_before(base_x + x) + BoxLayout::step * width + chunk_bytes - 1) / chunk_bytes,
              best = chunk_bytes * chunks_per_row<BoxLayout::step>(chunks);
    // One chunk more: pairs of packed pixels of 3 and 6 bytes are read in words, which end up to 6 bytes after the
    // pair.
    auto holds = [&](int pitch) { return static_cast<unsigned int>(pitch) * height + chunk_bytes <= plane_bytes; };
    const int pitch =
        holds(best)
            ? best
            : chunk_bytes * (chunks | 1);  // more bank conflicts, which cost far less than sampling from global memory
    const bool fits = near & (width <= max_side) & (height <= max_side) & (chunks <= threads) & holds(pitch);
    const float inv_groups = __fdividef(1.0f, static_cast<float>(chunks));
    return {x, y, fits ? chunks : 0, height, pitch, static_cast<int>((threads + 0.5f) * inv_groups), inv_groups};
}

// Rows of a box, or rows counted from a tile's base.
struct RowRange {
    int first, count;

    bool has(int row) const { return static_cast<unsigned int>(row - first) < static_cast<unsigned int>(count); }
};

// The part of its source box that a rotated tile reads: in each column of chunks, the rows between two pairs of
// parallel lines along the tile's sides. Within 30 degrees of rotation this is three quarters of the box.
struct NeededRows {
    // Of both pairs of lines: slope in rows per byte, and the rows of the upper and the lower line at byte 0.
    float slope[2], upper[2], lower[2];

    // The rows in which the chunk that begins at this byte is read.
    RowRange rows(float byte) const {
        const int first = static_cast<int>(floor(fmax(slope[0] * byte + upper[0], slope[1] * byte + upper[1])));
        return {first,
                static_cast<int>(floor(fmin(slope[0] * byte + lower[0], slope[1] * byte + lower[1]))) + 2 - first};
    }
};

// The needed rows of a tile of width x height pixels. Bytes and rows are counted from the tile's base and not from the
// box, so that the compiler can interleave both computations.
template <class BoxLayout, class TileMap>
inline NeededRows needed_rows_of(const TileMap& local, int width, int height) {
    // A point lies between the pixels that it reads, so a chunk is read from one pixel before it to one behind it.
    constexpr float step = BoxLayout::step, chunk_center = (chunk_bytes - step) / (2 * step),
                    reach = (chunk_bytes - 2 + step) / (2 * step) + 1;
    constexpr float slack = 1.0f / 16;  // for rounding errors
    constexpr float all_rows = 1e6f;    // more than any box has
    NeededRows out;
    // Two parallel sides of the tile: one along (right, down) from its first pixel, the other (away_x, away_y) from it.
    auto two_sides = [&](int i, float right, float down, float away_x, float away_y) {
        // Steep sides bound columns, which the box bounds already. They exclude too few rows to outweigh the rounding
        // error of the slope.
        const bool steep = 32 * fabs(right) <= fabs(down);
        const float slope = steep ? 0.0f : __fdividef(down, right), distance = away_y - slope * away_x;
        const float center_row = local.f + slope * (chunk_center - local.c) + 0.5f * distance,
                    half_height = steep ? all_rows : 0.5f * fabs(distance) + reach * fabs(slope) + slack;
        out.slope[i] = slope * (1 / step), out.upper[i] = center_row - half_height,
        out.lower[i] = center_row + half_height;
    };
    two_sides(0, local.a, local.d, local.b * (height - 1), local.e * (height - 1));
    two_sides(1, local.b, local.e, local.a * (width - 1), local.d * (width - 1));
    return out;
}

// The raw box, for a sampler whose coordinates count from the box's first pixel.
template <class Layout, class T, int K, int PlaneBytes>
struct RawBox {
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    static constexpr int step = BoxLayout::step;
    unsigned int corner;  // address of the first pixel in shared memory
    int pitch;

    template <class Value>
    static Value at(unsigned int address) {
        return *static_cast<const Value*>(__cvta_shared_to_generic(address));
    }

    // Channel k of the pixel `right` pixels to the right of an address.
    static T element(unsigned int address, int k, int right) {
        return at<T>(address + (BoxLayout::packed ? k * static_cast<int>(sizeof(T)) : k * PlaneBytes) + right * step);
    }

    // The pixel at an address and its right neighbour.
    static void pair(unsigned int address, RawPixel<T, K> (&pixel)[2]) {
        if constexpr (BoxLayout::packed && step == 6) {
            // Six elements in four words: fewer bank conflicts than six reads.
            Word word[4], pairs[3];
            for (int j = 0; j < 4; ++j) word[j] = at<Word>((address & ~3u) + 4 * j);
            for (int j = 0; j < 3; ++j) pairs[j] = __funnelshift_r(word[j], word[j + 1], address << 3);
            for (int i = 0; i < 6; ++i) {
                const unsigned short bits = static_cast<unsigned short>(pairs[i / 2] >> (16 * (i % 2)));
                memcpy(&pixel[i / 3].c[i % 3], &bits, sizeof(bits));
            }
        } else {
            for (int i = 0; i < 2; ++i)
                for (int k = 0; k < K; ++k) pixel[i].c[k] = element(address, k, i);
        }
    }
};

}  // namespace cuaug
