#pragma once

#include "gpu/convert.cuh"
#include "gpu/vectors.cuh"
#include "jpeg/dct.cuh"
#include "jpeg/quantization.cuh"
#include "jpeg/ycbcr.cuh"
#include "records/pointwise.cuh"

// The phases of kernels/passes/jpeg.cu for one tile. Blocks of coefficients lie in shared memory as 16-bit numbers, two
// to a word. A block has a pitch of 36 words, and a column of blocks of luma one of 292, so that lanes that take blocks
// one below the other or side by side have few bank conflicts.

namespace cuaug {

constexpr int jpeg_threads = 256;
constexpr int jpeg_luma_blocks = 8;    // of 8x8 pixels, on a side of the pixels that a tile makes
constexpr int jpeg_chroma_blocks = 5;  // of 16x16 pixels, on a side of the pixels that a tile reads
constexpr int jpeg_block_pitch = 36, jpeg_column_pitch = jpeg_luma_blocks * jpeg_block_pitch + 4;  // words

// Of two adjacent columns.
struct alignas(16) QuantizationPair {
    QuantizationStep left, right;
};

// Shared memory of a block.
template <int K>
struct alignas(16) JpegBlocks {
    static constexpr int luma = jpeg_luma_blocks * jpeg_luma_blocks,
                         chroma = K == 1 ? 0 : 2 * jpeg_chroma_blocks * jpeg_chroma_blocks;
    Word luma_words[jpeg_luma_blocks * jpeg_column_pitch];
    Word chroma_words[chroma == 0 ? 4 : chroma * jpeg_block_pitch];
    QuantizationPair quantization[K == 1 ? 1 : 2][32];  // of luma and of chroma

    Word* luma_row(int block_x, int block_y, int row) {
        return luma_words + block_x * jpeg_column_pitch + block_y * jpeg_block_pitch + 4 * row;
    }

    // Row `row` of the tile's blocks of chroma, counted in samples. Plane 0 is Cb, 1 is Cr.
    Word* chroma_row(int plane, int block_x, int row) {
        const int block = (plane * jpeg_chroma_blocks + block_x) * jpeg_chroma_blocks + (row >> 3);
        return chroma_words + block * jpeg_block_pitch + 4 * (row & 7);
    }
};

// Where a tile lies in the image. The pixels that a tile makes begin half a block of 16 pixels after those that it
// reads, and end half a block before: pixels need the chroma on either side of them.
struct JpegTileRect {
    int x, y;  // first pixel that is read
    int height, width;  // of the image

    bool reads(int block_x, int block_y) const {
        const int block_left = x + 16 * block_x, block_top = y + 16 * block_y;
        return block_left >= 0 && block_left < width && block_top >= 0 && block_top < height;
    }
    bool makes(int block_x, int block_y) const {
        const int block_left = x + 8 + 8 * block_x, block_top = y + 8 + 8 * block_y;
        return block_x >= 0 && block_x < jpeg_luma_blocks && block_y >= 0 && block_y < jpeg_luma_blocks &&
               block_left >= 0 && block_left < width && block_top >= 0 && block_top < height;
    }
};

// Rows of the input or the output.
template <class Layout, int K>
struct JpegFrame {
    uint8* data;
    long long offset[K];
    long long y_stride;
    int step;
    bool aligned;

    FourPixels<uint8, K> load(int y, int x, int width) const {
        const int first = min(x, width - 1);
        return load_pixels<Layout, uint8, K>(data + y * y_stride + static_cast<long long>(first) * step, offset, step,
                                             aligned, min(4, width - first));
    }
    void store(int y, int x, int width, const FourPixels<uint8, K>& pixels) const {
        store_pixels<Layout, uint8, K>(data + y * y_stride + static_cast<long long>(x) * step, offset, step, aligned,
                                       min(4, width - x), K, pixels);
    }
};

template <class Layout, int K>
inline JpegFrame<Layout, K> jpeg_frame(const BatchView& view, long long n, long long t, bool aligned) {
    JpegFrame<Layout, K> out = {static_cast<uint8*>(view.data) + n * view.n_stride + t * view.t_stride,
                                {},
                                view.y_stride,
                                column_stride<Layout, K>(view.x_stride),
                                aligned};
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

inline int clamp_sample(int value) { return min(max(value, -128), 127); }

// Luma of eight adjacent pixels; chroma is added to the sums of two by two pixels.
template <class Layout, int K>
inline void load_components(const JpegFrame<Layout, K>& in, int y, int x, int width, int (&luma)[8],
                            int (&cb_sum)[4], int (&cr_sum)[4]) {
    for (int i = 0; i < 8; i += 4) {
        const FourPixels<uint8, K> pixels = in.load(y, x + i, width);
        for (int j = 0; j < 4; ++j) {
            const RawPixel<uint8, K> pixel = to_raw_pixel(pixels.v[j]);
            if constexpr (K == 3) {
                int cb, cr;
                rgb_to_ycbcr<int>(pixel.c[0], pixel.c[1], pixel.c[2], luma[i + j], cb, cr);
                cb_sum[(i + j) / 2] += cb;
                cr_sum[(i + j) / 2] += cr;
            } else {
                luma[i + j] = pixel.c[0] - 128;
            }
        }
    }
}

// Loads pixels and transforms rows. A thread takes 16 columns of two rows, which are one row of a block of chroma. The
// last rows of luma and of chroma in the image are repeated to the end of their blocks.
template <class Layout, int K>
inline void transform_rows(const JpegFrame<Layout, K>& in, const JpegTileRect& rect, JpegBlocks<K>& blocks) {
    constexpr int row_pairs = 8 * jpeg_chroma_blocks;
    for (int i = threadIdx.x; i < jpeg_chroma_blocks * row_pairs; i += jpeg_threads) {
        const int pair = i / jpeg_chroma_blocks, block_x = i - pair * jpeg_chroma_blocks, y = rect.y + 2 * pair;
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
                if (!rect.makes(luma_x, block_y) || y + lower >= rect.height) continue;
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
