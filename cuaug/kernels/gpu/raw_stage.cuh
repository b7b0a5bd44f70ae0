#pragma once

#include "geometry/tile_map.cuh"
#include "samplers/image.cuh"
#include "gpu/stage.cuh"

// Source boxes that hold the input as it lies in memory, in planes or in rows of packed pixels. All that a tile needs
// is copied to shared memory 16 bytes at a time, past the registers, and nothing is rearranged: samplers read elements,
// or words of them. With bilinear interpolation this costs less than staging pixels (stage.cuh), as long as the border
// needs no more than a fill.

namespace cuaug {

constexpr int chunk_bytes = 16;

// Raw-staging blocks plan and copy for longer than they sample, so more resident blocks keep the multiprocessor
// sampling. uint8 with up to three channels leaves room: half the threads and half the rows per block. Counting 1 KiB
// reserved per block, seven fit into 228 KiB and three into 100 KiB (benchmarks/NOTES.md). Boxes of four channels,
// rotated by 45 degrees, would often not fit.
template <class T, int K, bool raw_staged>
constexpr bool small_blocks = raw_staged && sizeof(T) == 1 && K < 4;
template <class T, int K, bool raw_staged>
constexpr int block_threads = small_blocks<T, K, raw_staged> ? warp_image_threads / 2 : warp_image_threads;
template <class T, int K, bool raw_staged>
constexpr int block_bytes = small_blocks<T, K, raw_staged> ? 32000 : shared_bytes;
constexpr int max_small_blocks = 7;  // as registers allow

template <int PixelBytes>
constexpr int raw_region_width = PixelBytes <= 6 ? 64 : 32;  // columns of an output region

// How pixels lie in a raw box.
template <class Layout, class T, int K>
struct RawBoxLayout {
    static constexpr bool packed = is_same_v<Layout, Packed>;
    static constexpr int threads = block_threads<T, K, true>;
    static constexpr int channels = K, planes = packed ? 1 : K,
                         step = (packed ? K : 1) * sizeof(T);  // bytes from pixel to pixel
    static constexpr int pattern_words = packed ? (step % 4 == 0 ? step / 4 : step % 2 ? step : step / 2) : K;

    // Bytes from plane to plane, of a box of this many bytes.
    static constexpr int plane_of(int bytes) { return bytes / planes & -chunk_bytes; }

    // Bytes between the start of its chunk and the box's first pixel.
    static int bytes_before(int column) { return step * column & (chunk_bytes - 1); }
};

// Chunks from row to row. A warp's taps, a patch of 8x4 pixels (16x4 for every other of 6 bytes) rotated by any angle,
// then have the fewest bank conflicts: simulated over rotations within 30 degrees.
template <int Step>
inline int chunks_per_row(int chunks) {
    const int rest = chunks & 7, multiple = chunks - rest;
    if (Step == 1) return chunks | 1;
    if (Step == 2) return multiple + (rest <= 3 ? 3 : rest <= 5 ? 5 : 11);
    return multiple + (rest <= 2 ? 2 : rest <= 6 ? 6 : 10);
}

// As `staged_box_of` of stage.cuh, with `groups` counted in chunks and `pitch` in bytes.
template <class BoxLayout, class R>
inline SourceBox raw_box_of(const Bounds<R>& bounds, int base_x, int before, int after, int plane, int side) {
    const R slack = R(1.0 / 256), limit = R(1 << 20);
    const bool near =
        (bounds.x_low > -limit) & (bounds.x_high < limit) & (bounds.y_low > -limit) & (bounds.y_high < limit);
    const int x = static_cast<int>(floor(bounds.x_low - slack)) - before,
              y = static_cast<int>(floor(bounds.y_low - slack)) - before;
    const int width = static_cast<int>(floor(bounds.x_high + slack)) + after - x + 1,
              height = static_cast<int>(floor(bounds.y_high + slack)) + after - y + 1;
    const int chunks = (BoxLayout::bytes_before(base_x + x) + BoxLayout::step * width + chunk_bytes - 1) / chunk_bytes,
              best = chunk_bytes * chunks_per_row<BoxLayout::step>(chunks);
    auto holds = [&](int pitch) { return static_cast<unsigned int>(pitch) * height + chunk_bytes <= plane; };
    const int pitch =
        holds(best)
            ? best
            : chunk_bytes * (chunks | 1);  // more bank conflicts, which cost far less than sampling from global memory
    // One chunk more: packed pixels of 3 and 6 bytes are read in words, which end up to 6 bytes behind them.
    const bool fits = near & (width <= side) & (height <= side) & (chunks <= BoxLayout::threads) & holds(pitch);
    const float inv_groups = __fdividef(1.0f, static_cast<float>(chunks));
    return {x,         y, fits ? chunks : 0, height, pitch, static_cast<int>((BoxLayout::threads + 0.5f) * inv_groups),
            inv_groups};
}

// Rows of a box, or rows counted from a tile's base.
struct RowRange {
    int first, count;

    bool has(int row) const { return static_cast<unsigned int>(row - first) < static_cast<unsigned int>(count); }
};

// The part of its source box that a rotated tile reads: in each column of chunks, the rows between two pairs of
// parallel lines along the tile's sides. Within 30 degrees of rotation this is three quarters of the box.
struct NeededRows {
    float slope[2], upper[2], lower[2];  // of a line, in rows per byte, and its row at byte 0

    // Rows that are read of a chunk that begins at this byte.
    RowRange rows(float byte) const {
        const int first = static_cast<int>(floor(fmax(slope[0] * byte + upper[0], slope[1] * byte + upper[1])));
        return {first,
                static_cast<int>(floor(fmin(slope[0] * byte + lower[0], slope[1] * byte + lower[1]))) + 2 - first};
    }
};

// For a tile of width x height pixels. Bytes and rows are counted from the tile's base, which is known before the box
// is, so that both are computed at the same time.
template <class BoxLayout, class TileMap>
inline NeededRows needed_rows_of(const TileMap& local, int width, int height) {
    // A point lies between the pixels that it reads, so a chunk is read from one pixel before it to one behind it.
    constexpr float step = BoxLayout::step, centre = (chunk_bytes - step) / (2 * step),
                    reach = (chunk_bytes - 2 + step) / (2 * step) + 1;
    constexpr float slack = 1.0f / 16,
                    any_row = 1e6f;  // for rounding; and a row count beyond any box
    NeededRows out;
    // Two parallel sides: one along (right, down) from the tile's first pixel, the other at this distance.
    auto two_sides = [&](int i, float right, float down, float away_x, float away_y) {
        // such sides bound columns, as the box does, and rows too little for the rounding error of the slope
        const bool steep = 32 * fabs(right) <= fabs(down);
        const float slope = steep ? 0.0f : __fdividef(down, right), distance = away_y - slope * away_x;
        const float center = local.f + slope * (centre - local.c) + 0.5f * distance,
                    half = steep ? any_row : 0.5f * fabs(distance) + reach * fabs(slope) + slack;
        out.slope[i] = slope * (1 / step), out.upper[i] = center - half, out.lower[i] = center + half;
    };
    two_sides(0, local.a, local.d, local.b * (height - 1), local.e * (height - 1));
    two_sides(1, local.b, local.e, local.a * (width - 1), local.d * (width - 1));
    return out;
}

// The fill as words that repeat along a row: one per channel (planar), or those of a few pixels (packed).
template <class BoxLayout, class T, class Fill>
inline void write_fill_pattern(Word (&fill_pattern)[4], int lane, const Fill& fill) {
    constexpr int word_elements = elements_per_word<T>;
    if (lane < word_elements * BoxLayout::pattern_words)
        reinterpret_cast<T*>(fill_pattern)[lane] =
            fill(BoxLayout::packed ? lane % BoxLayout::channels : lane / word_elements);
}

// Copies bytes from global to shared memory, or zeros if `in_image` is false, when `from` may point anywhere. They
// arrive by `wait_for_copies`.
#if __CUDA_ARCH__ >= 800
template <int Bytes>
inline void copy_async(unsigned int to, const unsigned char* from, bool in_image) {
    const int bytes_read = in_image ? Bytes : 0;
    if constexpr (Bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(to), "l"(from), "r"(bytes_read));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     :
                     : "r"(to), "l"(from), "n"(Bytes), "r"(bytes_read));
}

inline void wait_for_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }
#else
template <int Bytes>
inline void copy_async(unsigned int to, const unsigned char* from, bool in_image) {
    struct alignas(Bytes) Bits {
        Word word[Bytes / 4];
    };
    *static_cast<Bits*>(__cvta_shared_to_generic(to)) = in_image ? *reinterpret_cast<const Bits*>(from) : Bits{};
}

inline void wait_for_copies() { asm volatile("" : : : "memory"); }
#endif

// A thread's share of the chunks: one column of them, walked down the rows, all threads at the same pace. Lanes so ask
// for adjacent chunks, of which memory delivers two at a time.
template <class Layout, class T, int K>
struct ThreadChunks {
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    static constexpr int size = sizeof(T);

    const Image<T, K, Constant>& image;
    const SourceBox& box;
    int byte, end;               // of the column, and of the end of the image's row, in bytes
    int y;                       // the first row
    RowRange needed, in_image;   // of the needed rows those in the image, if part of the column is
    bool is_inside, is_outside;  // the whole chunk
    unsigned int first;          // in shared memory

    ThreadChunks(const Image<T, K, Constant>& image, const SourceBox& box, const NeededRows& needed_rows,
                 unsigned char* memory)
        : image(image), box(box), end(BoxLayout::step * image.window.width) {
        const int row = static_cast<int>((threadIdx.x + 0.5f) * box.inv_groups), chunk = threadIdx.x - row * box.groups;
        y = row < box.rows_per_pass ? row : box.height;  // threads beyond the last whole row of chunks have none
        byte = (BoxLayout::step * image.base_x & -chunk_bytes) + chunk_bytes * chunk;
        is_inside = byte >= 0 && byte + chunk_bytes <= end;
        is_outside = byte + chunk_bytes <= 0 || byte >= end;
        needed = needed_rows.rows(static_cast<float>(byte - BoxLayout::step * (image.base_x - box.x)));
        needed.first -= box.y;
        in_image.first = max(needed.first, -image.base_y);
        in_image.count =
            is_outside ? 0
                       : max(min(needed.first + needed.count, image.window.height - image.base_y) - in_image.first, 0);
        first = static_cast<unsigned int>(__cvta_generic_to_shared(memory)) + row * box.pitch + chunk_bytes * chunk;
    }

    // Calls copy(to, from, in_image, channel) for each needed chunk; `in_image`: part of it lies in the image. `Every`:
    // also for the other chunks, with in_image false.
    template <bool Every = false, int Unrolled = 1, class Copy>
    void walk(int plane, const Copy& copy) const {
        const int step = size * image.y_stride, down = box.rows_per_pass * box.pitch;
        const unsigned char* from[BoxLayout::planes];
        for (int k = 0; k < BoxLayout::planes; ++k)
            from[k] = reinterpret_cast<const unsigned char*>(image.data + image.offset[k]) + byte +
                      mul_wide(image.base_y + y, step);
        unsigned int to = first;
#pragma unroll Unrolled
        for (int row = y; row < box.height; row += box.rows_per_pass, to += down) {
            if (Every || needed.has(row))
                for (int k = 0; k < BoxLayout::planes; ++k) copy(to + k * plane, from[k], in_image.has(row), k);
            for (int k = 0; k < BoxLayout::planes; ++k) from[k] += mul_wide(box.rows_per_pass, step);
        }
    }
};

// Called by all threads of the block. The copies are under way when it returns.
template <class Layout, class T, int K>
inline void stage_raw(const Image<T, K, Constant>& image, const SourceBox& box, const NeededRows& needed_rows,
                      int aligned, unsigned char* memory, int plane) {
    const ThreadChunks<Layout, T, K> thread_chunks(image, box, needed_rows, memory);
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    constexpr int size = thread_chunks.size;
    const bool is_whole = thread_chunks.is_inside || thread_chunks.is_outside;
    if (is_whole && aligned * size >= chunk_bytes) {
        // Two rows per iteration are requested without waiting for registers. A single chunk per row is requested, as
        // zeros, in less time than a branch takes (benchmarks/NOTES.md).
        thread_chunks.template walk<BoxLayout::planes == 1, 2>(
            plane, [](unsigned int to, const unsigned char* from, bool in_image, int) {
                copy_async<chunk_bytes>(to, from, in_image);
            });
    } else if (is_whole && aligned * size >= 4) {
        thread_chunks.walk(plane, [](unsigned int to, const unsigned char* from, bool in_image, int) {
            for (int b = 0; b < chunk_bytes; b += 4) copy_async<4>(to + b, from + b, in_image);
        });
    } else {
        thread_chunks.walk(plane, [&](unsigned int to, const unsigned char* from, bool in_image, int) {
#pragma unroll 1
            for (int at = 0; at < chunk_bytes; at += size)
                *static_cast<T*>(__cvta_shared_to_generic(to + at)) =
                    in_image && thread_chunks.byte + at >= 0 && thread_chunks.byte + at < thread_chunks.end
                        ? *reinterpret_cast<const T*>(from + at)
                        : T();
        });
    }
}

// Writes the fill outside the image. Called by the threads that copied, each of which has waited for its own copies.
template <class Layout, class T, int K>
inline void fill_outside(const Image<T, K, Constant>& image, const SourceBox& box, const NeededRows& needed_rows,
                         const Word (&fill_pattern)[4], unsigned char* memory, int plane) {
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    constexpr int size = sizeof(T), word_elements = elements_per_word<T>;
    const ThreadChunks<Layout, T, K> thread_chunks(image, box, needed_rows, memory);
    const int byte = thread_chunks.byte,
              phase = BoxLayout::packed
                          ? word_elements * ((byte / 4 % BoxLayout::pattern_words + BoxLayout::pattern_words) %
                                             BoxLayout::pattern_words)
                          : 0;
    thread_chunks.walk(plane, [&](unsigned int to, const unsigned char*, bool in_image, int k) {
        if (in_image && thread_chunks.is_inside) return;
#pragma unroll 1
        for (int j = 0; j < chunk_bytes / size; ++j)
            if (!in_image || byte + size * j < 0 || byte + size * j >= thread_chunks.end)
                *static_cast<T*>(__cvta_shared_to_generic(to + size * j)) = reinterpret_cast<const T*>(
                    fill_pattern)[BoxLayout::packed ? (phase + j) % (word_elements * BoxLayout::pattern_words)
                                                    : word_elements * k];
    });
}

// The raw box, for a sampler whose coordinates count from the box's first pixel.
template <class Layout, class T, int K, int Plane>
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
        return at<T>(address + (BoxLayout::packed ? k * static_cast<int>(sizeof(T)) : k * Plane) + right * step);
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
