#pragma once

#include "gpu/convert.cuh"
#include "gpu/vectors.cuh"
#include "jpeg/dct.cuh"
#include "jpeg/quantization.cuh"
#include "jpeg/ycbcr.cuh"
#include "records/pointwise.cuh"

// The phases of kernels/passes/jpeg.cu for one tile. Blocks of 8x8 coefficients lie in shared memory as 16-bit numbers,
// two to a word. A block has a pitch of 36 words, and a column of luma blocks a pitch of 292, so that lanes that take
// blocks one below the other or side by side have few bank conflicts.

namespace cuaug {

constexpr int jpeg_threads = 192;
template <class InLayout, class OutLayout>
constexpr int jpeg_resident_blocks =
    is_same_v<InLayout, Strided> || is_same_v<OutLayout, Strided> ? 3 : 4;  // thread blocks of a multiprocessor
// Blocks of a tile: luma blocks, of the 8x8 pixels that the tile writes, and chroma blocks, of 16x16 pixels that it
// reads.
constexpr int luma_columns = 16, luma_rows = 8, chroma_columns = luma_columns / 2 + 1, chroma_rows = luma_rows / 2 + 1;
constexpr int block_pitch = 36, column_pitch = luma_rows * block_pitch + 4;  // words

// The quantization steps of two adjacent coefficients of a row.
struct alignas(16) QuantizationPair {
    QuantizationStep left, right;
};

// Shared memory of a thread block.
template <int K>
struct alignas(16) JpegBlocks {
    static constexpr int luma = luma_columns * luma_rows, chroma = K == 1 ? 0 : 2 * chroma_columns * chroma_rows;
    Word luma_words[luma_columns * column_pitch];
    Word chroma_words[chroma == 0 ? 4 : chroma * block_pitch];
    QuantizationPair quantization[K == 1 ? 1 : 2][32];  // of luma, of chroma; index: 4 * row + pair of columns

    Word* luma_row(int block_x, int block_y, int row) {
        return luma_words + block_x * column_pitch + block_y * block_pitch + 4 * row;
    }

    // Row `row` of the tile's blocks of chroma, counted in samples. Plane 0 is Cb, 1 is Cr.
    Word* chroma_row(int plane, int block_x, int row) {
        const int block = (plane * chroma_columns + block_x) * chroma_rows + (row >> 3);
        return chroma_words + block * block_pitch + 4 * (row & 7);
    }
};

// Where a tile lies in the image. The pixels that a tile writes begin 8 pixels after those that it reads, and end 8
// pixels before: a pixel needs the chroma samples on all sides of it.
struct JpegTileRect {
    int x, y;           // first pixel that is read
    int height, width;  // of the image

    bool reads(int block_x, int block_y) const {
        const int block_left = x + 16 * block_x, block_top = y + 16 * block_y;
        return block_left >= 0 && block_left < width && block_top >= 0 && block_top < height;
    }
    bool writes(int block_x, int block_y) const {
        const int block_left = x + 8 + 8 * block_x, block_top = y + 8 + 8 * block_y;
        return block_x >= 0 && block_x < luma_columns && block_y >= 0 && block_y < luma_rows && block_left >= 0 &&
               block_left < width && block_top >= 0 && block_top < height;
    }
};

// Four numbers, clamped to 0..255 or to -128..127, as the bytes of a word.
inline Word saturate_to_u8(int a, int b, int c, int d) {
    Word upper, out;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(upper) : "r"(d), "r"(c), "r"(0));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(b), "r"(a), "r"(upper));
    return out;
}
inline Word saturate_to_s8(int a, int b, int c, int d) {
    Word upper, out;
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(upper) : "r"(d), "r"(c), "r"(0));
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(out) : "r"(b), "r"(a), "r"(upper));
    return out;
}

// A frame of the input or the output. Pixels are moved in runs of eight.
template <class Layout, int K>
struct JpegFrame {
    static constexpr bool packed = is_same_v<Layout, Packed>;
    uint8* data;
    long long offset[K];
    long long y_stride;
    int step;
    int vector_elements;  // as in a BatchRecord

    uint8* at(int y, int x) const { return data + y * y_stride + static_cast<long long>(x) * step; }

    // Pixels beyond the right edge of the image repeat the last one.
    void load(int y, int x, int width, int (&pixel)[8][K]) const {
        if (!is_same_v<Layout, Strided> && vector_elements >= 4 && x + 8 <= width) {
            const Vectors<uint8, K, 2> in = vector_elements == 4
                                                ? load_vectors<Layout, uint8, K, 2, 1>(at(y, x), offset)
                                                : load_vectors<Layout, uint8, K, 2, 2>(at(y, x), offset);
            for (int i = 0; i < 8; ++i)
                for (int k = 0; k < K; ++k) {
                    const int byte = packed ? K * (i % 4) + k : i % 4;
                    const Word word = in.elements[i / 4][packed ? byte / 4 : k].word[0];
                    pixel[i][k] = static_cast<int>(permute_bytes(word, 0, 0x4440 + byte % 4));
                }
        } else {
            for (int i = 0; i < 8; ++i)
                for (int k = 0; k < K; ++k) pixel[i][k] = at(y, min(x + i, width - 1))[offset[k]];
        }
    }

    // Values are clamped to 0..255.
    void store(int y, int x, int width, const int (&pixel)[8][K]) const {
        if (!is_same_v<Layout, Strided> && vector_elements >= 4 && x + 8 <= width) {
            for (int v = 0; v < K; ++v) {  // the v-th eight bytes of a packed run, or channel v of a planar one
                AlignedVector<uint8, 2> out;
                for (int i = 0; i < 2; ++i) {
                    int value[4];
                    for (int j = 0; j < 4; ++j) {
                        const int element = 4 * i + j, byte = 8 * v + element;
                        value[j] = packed ? pixel[byte / K][byte % K] : pixel[element][v];
                    }
                    out.elements[i].word[0] = saturate_to_u8(value[0], value[1], value[2], value[3]);
                }
                uint8* to = at(y, x) + (packed ? 8 * v : offset[v]);
                if (vector_elements == 4)
                    for (int i = 0; i < 2; ++i) store_as(to + 4 * i, out.elements[i]);
                else
                    store_as(to, out);
            }
        } else {
            for (int i = 0; i < 8; ++i)
                for (int k = 0; k < K; ++k)
                    if (x + i < width) at(y, x + i)[offset[k]] = static_cast<uint8>(min(max(pixel[i][k], 0), 255));
        }
    }
};

template <class Layout, int K>
inline JpegFrame<Layout, K> jpeg_frame(const BatchView& view, long long n, long long t, int vector_elements) {
    JpegFrame<Layout, K> out = {static_cast<uint8*>(view.data) + n * view.n_stride + t * view.t_stride,
                                {},
                                view.y_stride,
                                column_stride<Layout, K>(view.x_stride),
                                vector_elements};
    channel_offsets<Layout, K>(view.c_stride, K, out.offset);
    return out;
}

inline void store_coefficients(const int (&v)[8], Word* row) {
    for (int i = 0; i < 4; ++i) row[i] = permute_bytes(v[2 * i], v[2 * i + 1], low_halves);
}

inline void load_coefficients(const Word* row, int (&v)[8]) {
    for (int i = 0; i < 4; ++i) {
        v[2 * i] = static_cast<int16>(row[i] & 0xffff);
        v[2 * i + 1] = static_cast<int>(row[i]) >> 16;
    }
}

// Luma of eight adjacent pixels; chroma is added to the sums of two by two pixels.
template <class Layout, int K>
inline void load_components(const JpegFrame<Layout, K>& in, int y, int x, int width, int (&luma)[8], int (&cb_sum)[4],
                            int (&cr_sum)[4]) {
    int pixel[8][K];
    in.load(y, x, width, pixel);
    for (int i = 0; i < 8; ++i)
        if constexpr (K == 3) {
            int cb, cr;
            rgb_to_ycbcr(pixel[i][0], pixel[i][1], pixel[i][2], luma[i], cb, cr);
            cb_sum[i / 2] += cb;
            cr_sum[i / 2] += cr;
        } else {
            luma[i] = pixel[i][0] - 128;
        }
}

// Loads pixels and transforms rows. A thread takes 16 columns of two rows, which are one row of a block of chroma. The
// last rows of luma and of chroma in the image are repeated to the end of their blocks.
template <class Layout, int K>
inline void transform_rows(const JpegFrame<Layout, K>& in, const JpegTileRect& rect, JpegBlocks<K>& blocks) {
    for (int i = threadIdx.x; i < chroma_columns * 8 * chroma_rows; i += jpeg_threads) {
        const int pair = i / chroma_columns, block_x = i - pair * chroma_columns, y = rect.y + 2 * pair;
        if (!rect.reads(block_x, pair >> 3) || y >= rect.height) continue;
        int chroma[2][8] = {};
        const int row = 2 * (pair & 3), block_y = (pair >> 2) - 1;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            int sums[2][4] = {};
#pragma unroll
            for (int lower = 0; lower < 2; ++lower) {
                int luma[8];
                load_components(in, min(y + lower, rect.height - 1), rect.x + 16 * block_x + 8 * half, rect.width, luma,
                                sums[0], sums[1]);
                const int luma_x = 2 * block_x + half - 1;
                if (!rect.writes(luma_x, block_y) || y + lower >= rect.height) continue;
                forward_dct<DctPass::first>(luma);
                const int end = y + lower == rect.height - 1 ? 8 : row + lower + 1;
                for (int to = row + lower; to < end; ++to)
                    store_coefficients(luma, blocks.luma_row(luma_x, block_y, to));
            }
            for (int j = 0; j < 4; ++j)
                for (int c = 0; c < 2; ++c) chroma[c][4 * half + j] = mean_of_four(sums[c][j], j);
        }
        if constexpr (K == 3)
            for (int c = 0; c < 2; ++c) {
                forward_dct<DctPass::first>(chroma[c]);
                const int end = y + 2 >= rect.height ? (pair | 7) + 1 : pair + 1;
                for (int to = pair; to < end; ++to) store_coefficients(chroma[c], blocks.chroma_row(c, block_x, to));
            }
    }
}

}  // namespace cuaug
