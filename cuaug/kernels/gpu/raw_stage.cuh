#pragma once

#include "geometry/tile_map.cuh"
#include "samplers/image.cuh"
#include "gpu/stage.cuh"

// Boxes that hold the input as it lies in memory, planes or rows of packed pixels. It comes sixteen bytes at a time,
// past the registers, all that a tile needs at once: nothing is put together, and what samples takes elements, or words
// of them. With bilinear interpolation that costs less than to stage pixels (tile.cuh), where no border needs more than
// a fill.

namespace cuaug {

constexpr int chunk_bytes = 16;

// A block of copied boxes plans and copies for longer than it samples: of more blocks some sample at any time. Up to
// three channels of bytes leave room for them: blocks of half the threads make half the rows. With 1 KiB that each
// takes besides, seven fit into a multiprocessor's 228 KiB, three into 100 (benchmarks/NOTES.md). Boxes of four
// channels, turned by 45 degrees, would often not fit.
template <class T, int K, bool raw_staged>
constexpr bool small_blocks = raw_staged && sizeof(T) == 1 && K < 4;
template <class T, int K, bool raw_staged>
constexpr int block_threads = small_blocks<T, K, raw_staged> ? threads / 2 : threads;
template <class T, int K, bool raw_staged>
constexpr int block_bytes = small_blocks<T, K, raw_staged> ? 32000 : shared_bytes;
constexpr int max_small_blocks = 7;  // that registers are left for

template <int PixelBytes>
constexpr int raw_region_width = PixelBytes <= 6 ? 64 : 32;  // of the output, in columns

// How pixels lie in such a box.
template <class Layout, class T, int K>
struct RawBoxLayout {
    static constexpr bool packed = is_same_v<Layout, Packed>;
    static constexpr int threads = block_threads<T, K, true>;
    static constexpr int channels = K, planes = packed ? 1 : K,
                         step = (packed ? K : 1) * sizeof(T);  // bytes from pixel to pixel
    static constexpr int pattern_words = packed ? (step % 4 == 0 ? step / 4 : step % 2 ? step : step / 2) : K;

    // Of so many bytes of shared memory, from plane to plane.
    static constexpr int plane_of(int bytes) { return bytes / planes & -chunk_bytes; }

    // Bytes before the box's first pixel, in the piece that it begins in.
    static int bytes_before(int column) { return step * column & (chunk_bytes - 1); }
};

// Pieces from row to row, so that a warp's taps, a patch of 8x4 pixels (of 6 bytes every other of 16x4) turned by any
// angle, meet in a bank least: simulated over rotations within 30 degrees.
template <int Step>
inline int chunks_per_row(int across) {
    const int rest = across & 7, whole = across - rest;
    if (Step == 1) return across | 1;
    if (Step == 2) return whole + (rest <= 3 ? 3 : rest <= 5 ? 5 : 11);
    return whole + (rest <= 2 ? 2 : rest <= 6 ? 6 : 10);
}

// As `staged_box_of` of tile.cuh, across and pitch in pieces and bytes.
template <class BoxLayout, class R>
inline SourceBox raw_box_of(const Bounds<R>& bounds, int base_x, int before, int after, int plane, int side) {
    const R slack = R(1.0 / 256), limit = R(1 << 20);
    const bool near =
        (bounds.x_low > -limit) & (bounds.x_high < limit) & (bounds.y_low > -limit) & (bounds.y_high < limit);
    const int x = static_cast<int>(floor(bounds.x_low - slack)) - before,
              y = static_cast<int>(floor(bounds.y_low - slack)) - before;
    const int width = static_cast<int>(floor(bounds.x_high + slack)) + after - x + 1,
              height = static_cast<int>(floor(bounds.y_high + slack)) + after - y + 1;
    const int across = (BoxLayout::bytes_before(base_x + x) + BoxLayout::step * width + chunk_bytes - 1) / chunk_bytes,
              best = chunk_bytes * chunks_per_row<BoxLayout::step>(across);
    auto holds = [&](int pitch) { return static_cast<unsigned int>(pitch) * height + chunk_bytes <= plane; };
    const int pitch =
        holds(best)
            ? best
            : chunk_bytes * (across | 1);  // more taps meet in a bank, which costs far less than to sample from memory
    // A piece more: packed pixels of 3 and 6 bytes are read in words, which end up to 6 bytes behind them.
    const bool fits = near & (width <= side) & (height <= side) & (across <= BoxLayout::threads) & holds(pitch);
    const float share = __fdividef(1.0f, static_cast<float>(across));
    return {x, y, fits ? across : 0, height, pitch, static_cast<int>((BoxLayout::threads + 0.5f) * share), share};
}

// Of a box, or counted from a tile's base.
struct RowRange {
    int first, count;

    bool has(int row) const { return static_cast<unsigned int>(row - first) < static_cast<unsigned int>(count); }
};

// What a tile needs of its box, in which it lies turned: of each column of pieces the rows between two pairs of lines,
// on which the tile's sides lie. With rotations within 30 degrees that is three quarters of the box.
struct NeededRows {
    float slope[2], upper[2], lower[2];  // of a line, in rows a byte, and where it meets a column that begins at byte 0

    // Of a piece that begins at this byte.
    RowRange rows(float byte) const {
        const int first = static_cast<int>(floor(fmax(slope[0] * byte + upper[0], slope[1] * byte + upper[1])));
        return {first,
                static_cast<int>(floor(fmin(slope[0] * byte + lower[0], slope[1] * byte + lower[1]))) + 2 - first};
    }
};

// Of a tile of so many pixels. Bytes and rows are counted from its base, as that is known before the box is: what is
// found here is found meanwhile.
template <class BoxLayout, class TileMap>
inline NeededRows needed_rows_of(const TileMap& local, int width, int height) {
    // A point lies between the pixels that it needs, so a piece is needed from a pixel before it on, and to one behind
    // it.
    constexpr float step = BoxLayout::step, centre = (chunk_bytes - step) / (2 * step),
                    reach = (chunk_bytes - 2 + step) / (2 * step) + 1;
    constexpr float slack = 1.0f / 16,
                    everything = 1e6f;  // for rounding, far more than there is in a box; and any row of it
    NeededRows out;
    // Two parallel sides: one along (right, down) from the tile's first pixel on, and the other so far away.
    auto sides = [&](int i, float right, float down, float away_x, float away_y) {
        const bool steep = 32 * fabs(right) <= fabs(down);  // such sides bound columns, as the box does; rows so little
                                                            // that it is not worth what rounding makes of the slope
        const float slope = steep ? 0.0f : __fdividef(down, right), apart = away_y - slope * away_x;
        const float middle = local.f + slope * (centre - local.c) + 0.5f * apart,
                    half = steep ? everything : 0.5f * fabs(apart) + reach * fabs(slope) + slack;
        out.slope[i] = slope * (1 / step), out.upper[i] = middle - half, out.lower[i] = middle + half;
    };
    sides(0, local.a, local.d, local.b * (height - 1), local.e * (height - 1));
    sides(1, local.b, local.e, local.a * (width - 1), local.d * (width - 1));
    return out;
}

// What lies outside, in words as they repeat in a row: one a channel (planes), or those of a few pixels.
template <class BoxLayout, class T, class Fill>
inline void write_fill_pattern(Word (&blank)[4], int lane, const Fill& fill) {
    constexpr int each = elements_per_word<T>;
    if (lane < each * BoxLayout::pattern_words)
        reinterpret_cast<T*>(blank)[lane] = fill(BoxLayout::packed ? lane % BoxLayout::channels : lane / each);
}

// Bytes of memory, or zeros where they are not `there`, and `from` points anywhere; they are in shared memory once they
// have been waited for.
#if __CUDA_ARCH__ >= 800
template <int Bytes>
inline void copy_async(unsigned int to, const unsigned char* from, bool there) {
    const int read = there ? Bytes : 0;
    if constexpr (Bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(to), "l"(from), "r"(read));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" : : "r"(to), "l"(from), "n"(Bytes), "r"(read));
}

inline void wait_for_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }
#else
template <int Bytes>
inline void copy_async(unsigned int to, const unsigned char* from, bool there) {
    struct alignas(Bytes) Bits {
        Word word[Bytes / 4];
    };
    *static_cast<Bits*>(__cvta_shared_to_generic(to)) = there ? *reinterpret_cast<const Bits*>(from) : Bits{};
}

inline void wait_for_copies() { asm volatile("" : : : "memory"); }
#endif

// A thread's share of the pieces: it keeps to a column of them and walks down the rows, all threads at the same pace.
// So lanes ask for pieces side by side, of which memory brings two at a time.
template <class Layout, class T, int K>
struct ThreadChunks {
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    static constexpr int size = sizeof(T);

    const Image<T, K, Constant>& image;
    const SourceBox& box;
    int byte, end;           // the column, and where the image's row ends, in bytes
    int y;                   // the first row
    RowRange needed, there;  // of these what lies in the image, and some of the column does
    bool inside, outside;    // wholly
    unsigned int first;      // in shared memory

    ThreadChunks(const Image<T, K, Constant>& image, const SourceBox& box, const NeededRows& needed_rows,
                 unsigned char* memory)
        : image(image), box(box), end(BoxLayout::step * image.window.width) {
        const int row = static_cast<int>((threadIdx.x + 0.5f) * box.inv_groups), piece = threadIdx.x - row * box.groups;
        y = row < box.rows_per_pass ? row : box.height;  // threads beyond the last whole row of pieces have none
        byte = (BoxLayout::step * image.base_x & -chunk_bytes) + chunk_bytes * piece;
        inside = byte >= 0 && byte + chunk_bytes <= end;
        outside = byte + chunk_bytes <= 0 || byte >= end;
        needed = needed_rows.rows(static_cast<float>(byte - BoxLayout::step * (image.base_x - box.x)));
        needed.first -= box.y;
        there.first = max(needed.first, -image.base_y);
        there.count =
            outside ? 0 : max(min(needed.first + needed.count, image.window.height - image.base_y) - there.first, 0);
        first = static_cast<unsigned int>(__cvta_generic_to_shared(memory)) + row * box.pitch + chunk_bytes * piece;
    }

    // `bring(to, from, there, channel)` for each that is needed; `there`: some of it lies in the image. `Every`: for
    // the others, too, as not there.
    template <bool Every = false, int Unrolled = 1, class Bring>
    void walk(int plane, const Bring& bring) const {
        const int step = size * image.y_stride, down = box.rows_per_pass * box.pitch;
        const unsigned char* from[BoxLayout::planes];
        for (int k = 0; k < BoxLayout::planes; ++k)
            from[k] = reinterpret_cast<const unsigned char*>(image.data + image.offset[k]) + byte +
                      mul_wide(image.base_y + y, step);
        unsigned int to = first;
#pragma unroll Unrolled
        for (int row = y; row < box.height; row += box.rows_per_pass, to += down) {
            if (Every || needed.has(row))
                for (int k = 0; k < BoxLayout::planes; ++k) bring(to + k * plane, from[k], there.has(row), k);
            for (int k = 0; k < BoxLayout::planes; ++k) from[k] += mul_wide(box.rows_per_pass, step);
        }
    }
};

// By all threads of the block. What it asks for is on its way when it returns.
template <class Layout, class T, int K>
inline void stage_raw(const Image<T, K, Constant>& image, const SourceBox& box, const NeededRows& needed_rows,
                      int aligned, unsigned char* memory, int plane) {
    const ThreadChunks<Layout, T, K> pieces(image, box, needed_rows, memory);
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    constexpr int size = pieces.size;
    const bool whole = pieces.inside || pieces.outside;
    if (whole && aligned * size >= chunk_bytes) {
        // Two rows a turn are asked for without a wait for registers; a single piece a row is asked for in less than a
        // branch takes, as zeros (benchmarks/NOTES.md).
        pieces.template walk<BoxLayout::planes == 1, 2>(
            plane, [](unsigned int to, const unsigned char* from, bool there, int) {
                copy_async<chunk_bytes>(to, from, there);
            });
    } else if (whole && aligned * size >= 4) {
        pieces.walk(plane, [](unsigned int to, const unsigned char* from, bool there, int) {
            for (int b = 0; b < chunk_bytes; b += 4) copy_async<4>(to + b, from + b, there);
        });
    } else {
        pieces.walk(plane, [&](unsigned int to, const unsigned char* from, bool there, int) {
#pragma unroll 1
            for (int at = 0; at < chunk_bytes; at += size)
                *static_cast<T*>(__cvta_shared_to_generic(to + at)) =
                    there && pieces.byte + at >= 0 && pieces.byte + at < pieces.end
                        ? *reinterpret_cast<const T*>(from + at)
                        : T();
        });
    }
}

// What lies outside, by the threads that copied, each of which has waited for its own pieces.
template <class Layout, class T, int K>
inline void fill_outside(const Image<T, K, Constant>& image, const SourceBox& box, const NeededRows& needed_rows,
                         const Word (&blank)[4], unsigned char* memory, int plane) {
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    constexpr int size = sizeof(T), each = elements_per_word<T>;
    const ThreadChunks<Layout, T, K> pieces(image, box, needed_rows, memory);
    const int byte = pieces.byte,
              phase = BoxLayout::packed ? each * ((byte / 4 % BoxLayout::pattern_words + BoxLayout::pattern_words) %
                                                  BoxLayout::pattern_words)
                                        : 0;
    pieces.walk(plane, [&](unsigned int to, const unsigned char*, bool there, int k) {
        if (there && pieces.inside) return;
#pragma unroll 1
        for (int j = 0; j < chunk_bytes / size; ++j)
            if (!there || byte + size * j < 0 || byte + size * j >= pieces.end)
                *static_cast<T*>(__cvta_shared_to_generic(to + size * j)) = reinterpret_cast<const T*>(
                    blank)[BoxLayout::packed ? (phase + j) % (each * BoxLayout::pattern_words) : each * k];
    });
}

// The copied box, seen by a sampler whose coordinates count from its first pixel.
template <class Layout, class T, int K, int Plane>
struct RawBox {
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    static constexpr int step = BoxLayout::step;
    unsigned int corner;  // the first pixel's address in shared memory
    int pitch;

    template <class Value>
    static Value at(unsigned int address) {
        return *static_cast<const Value*>(__cvta_shared_to_generic(address));
    }

    // Channel k of the pixel `right` of an address.
    static T element(unsigned int address, int k, int right) {
        return at<T>(address + (BoxLayout::packed ? k * static_cast<int>(sizeof(T)) : k * Plane) + right * step);
    }

    // The pixel at an address and the one to its right.
    static void pair(unsigned int address, RawPixel<T, K> (&pixel)[2]) {
        if constexpr (BoxLayout::packed && step == 6) {
            // Six elements in four words, which meet in banks less often than six reads.
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
