#pragma once

#include "gpu/channel_ops.cuh"
#include "gpu/convert.cuh"
#include "gpu/gaussian_digits.cuh"
#include "gpu/layout.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/vectors.cuh"
#include "gpu/wide_multiply.cuh"

// Shared by gaussian_blur_u8 and gaussian_blur_packed. They filter strips of an image, 32 elements or packed pixels
// wide, in chunks of eight rows.

namespace cuaug {

constexpr int strip_width = 32, chunk_rows = 8;

// Warps that a multiprocessor shall hold at a time, which limits the registers of each; long chains of ops need more
// registers. Compute capability 8.6 holds at most 16 blocks, and a block of gaussian_blur_u8 is a warp.
#if __CUDA_ARCH__ >= 900
template <class Ops>
constexpr int resident_warps = Ops::param_count > 2 ? 20 : 24;
#else
template <class Ops>
constexpr int resident_warps = 16;
#endif

struct alignas(16) SixteenBytes {
    Word words[4];
};

// How the elements of a source row lie in memory.
struct SourceRows {
    int elements, x_stride;
    int vector_elements;  // as `in_vector_elements` of the record; 0 for strided rows

    // Elements i to i + 3, i >= 0; 0 for those beyond the end of the row.
    Word load_word(const uint8* row, int i) const {
        if (vector_elements && i + 4 <= elements) return *reinterpret_cast<const Word*>(row + i);
        if (x_stride == 1 && i >= 3 && i + 8 <= elements) {  // the two aligned words around them are within the row
            const Word shift = static_cast<Word>(reinterpret_cast<unsigned long long>(row + i)) & 3;
            const Word* const words = reinterpret_cast<const Word*>(row + i - shift);
            return __funnelshift_r(words[0], words[1], 8 * shift);
        }
        Word out = 0;
        for (int j = 0; j < 4; ++j)
            if (i + j < elements) out |= static_cast<Word>(row[mul_wide(i + j, x_stride)]) << 8 * j;
        return out;
    }
};

// 16 adjacent elements of the source rows, which a thread loads.
struct SourceGroup {
    int first;                   // element
    bool is_vector, is_outside;  // one load moves all 16; no element is within the row

    SourceGroup(const SourceRows& rows, int first)
        : first(first),
          is_vector(rows.vector_elements >= 16 && first >= 0 && first + 16 <= rows.elements),
          is_outside(first + 16 <= 0 || first >= rows.elements) {}

    // Elements beyond the end of the row become 0. A group outside the row leaves `out` as it is.
    void load(const SourceRows& rows, const uint8* row, SixteenBytes& out) const {
        if (is_vector) {
            const SixteenBytes* vector = reinterpret_cast<const SixteenBytes*>(row + first);
            __builtin_assume(__isGlobal(vector));
            out = *vector;
        } else if (!is_outside) {
#pragma unroll 1
            for (int i = first; i < first + 16; i += 4) {
                for (int j = 0; j < 3; ++j)
                    out.words[j] = out.words[j + 1];  // a variable index would move them to local memory
                out.words[3] = rows.load_word(row, i);
            }
        }
    }
};

// Eight adjacent results -> elements in memory, after the ops. values: in units of 2^-24 of a level, plus half a level,
// so that the highest byte is the level. first_channel: of the first value.
template <int Step, class Out, class Ops>
inline AlignedVector<Out, 2> to_elements(const Word* values, const Ops& ops, int first_channel) {
    AlignedVector<Out, 2> out;
    if constexpr (Ops::is_empty) {
        for (int i = 0; i < 8; i += 4)
            out.elements[i / 4].word[0] = permute_bytes(permute_bytes(values[i], values[i + 1], 0x73),
                                                        permute_bytes(values[i + 2], values[i + 3], 0x73), low_halves);
    } else {
        float unit_range[8];
        for (int i = 0; i < 8; ++i) unit_range[i] = level_to_unit_range(values[i] >> 24 | 0x4B000000);
        ops.template apply<Step>(first_channel, unit_range);
        for (int i = 0; i < 8; i += 4) {
            Pixel<float, 4> four;
            for (int j = 0; j < 4; ++j) four.c[j] = unit_range[i + j];
            const WordPixel<Out, 4> stored = pack_unit_range<Out>(four);
            memcpy(&out.elements[i / 4], &stored, sizeof(stored));
        }
    }
    return out;
}

// The row of an image of `last_row + 1` rows that stands for row y, which may be outside: mirrored once at the edges.
// A row that is then still outside becomes row 0. It has no weight, except in an image of one row: the table of a
// filter that changes nothing has a weight at pixel 1.
inline int mirrored_row(int y, int last_row) { return max(last_row - abs(last_row - abs(y)), 0); }

// Stores the rows from `top` to `end` of a strip without a filter.
template <class Strip, class Ops>
inline void copy_strip(const Strip& strip, int top, int end, const Ops& ops) {
    constexpr int ahead = 4;  // chunks that are loaded before the first of them is stored
#pragma unroll 1
    for (int y = top; y < end; y += ahead * chunk_rows) {
        Word words[ahead][2];
        for (int i = 0; i < ahead; ++i) strip.load_eight(y + i * chunk_rows, words[i]);
        for (int i = 0; i < ahead && y + i * chunk_rows < end; ++i) {
            Word values[8];
            for (int j = 0; j < 8; ++j) values[j] = words[i][j / 4] >> 8 * (j % 4) << 24;
            strip.store(y + i * chunk_rows, values, ops);
        }
    }
}

}  // namespace cuaug
