#include "gpu/jpeg_tile.cuh"

namespace cuaug {

// Fills the tables for a quality.
template <int K>
inline void fill_quantization(int quality, JpegBlocks<K>& blocks) {
    constexpr int tables = K == 1 ? 1 : 2;
    for (int i = threadIdx.x; i < 32 * tables; i += jpeg_threads) {
        const uint8* entries = (i < 32 ? luma_quantization : chroma_quantization) + 2 * (i & 31);
        blocks.quantization[i >> 5][i & 31] = {quantization_step(entries[0], quality),
                                               quantization_step(entries[1], quality)};
    }
}

// Transforms columns, quantizes, and transforms columns back. A thread takes two adjacent columns of a block.
template <int K>
inline void code_columns(const JpegTileRect& rect, JpegBlocks<K>& blocks) {
    for (int i = threadIdx.x; i < 4 * (blocks.luma + blocks.chroma); i += jpeg_threads) {
        const int pair = i & 3, luma_block = i >> 2, chroma_block = luma_block - blocks.luma;
        const bool is_luma = K == 1 || chroma_block < 0;
        const int plane_block = chroma_block % (chroma_columns * chroma_rows);
        if (is_luma ? !rect.writes(luma_block / luma_rows, luma_block % luma_rows)
                    : !rect.reads(plane_block / chroma_rows, plane_block % chroma_rows))
            continue;
        Word* column_pair = (is_luma ? blocks.luma_row(luma_block / luma_rows, luma_block % luma_rows, 0)
                                     : blocks.chroma_words + chroma_block * block_pitch) +
                            pair;
        constexpr int chroma_table = K / 3;  // 1 for K = 3; 0 for K = 1, which has no second table
        const QuantizationPair* table = blocks.quantization[is_luma ? 0 : chroma_table] + pair;
        int left[8], right[8];
        for (int y = 0; y < 8; ++y) {
            left[y] = static_cast<int16>(column_pair[4 * y] & 0xffff);
            right[y] = static_cast<int>(column_pair[4 * y]) >> 16;
        }
        forward_dct<DctPass::second>(left);
        forward_dct<DctPass::second>(right);
        for (int y = 0; y < 8; ++y) {
            const QuantizationPair entry = table[4 * y];
            quantize(left[y], entry.left.step, entry.left.reciprocal);
            quantize(right[y], entry.right.step, entry.right.reciprocal);
        }
        inverse_dct<DctPass::first>(left);
        inverse_dct<DctPass::first>(right);
        for (int y = 0; y < 8; ++y) column_pair[4 * y] = permute_bytes(left[y], right[y], low_halves);
    }
}

// Transforms rows of chroma back. Eight samples, a byte each, replace the first half of their row of coefficients.
template <int K>
inline void decode_chroma_rows(const JpegTileRect& rect, JpegBlocks<K>& blocks) {
    for (int i = threadIdx.x; i < 8 * blocks.chroma; i += jpeg_threads) {
        const int plane_block = (i >> 3) % (chroma_columns * chroma_rows);
        if (!rect.reads(plane_block / chroma_rows, plane_block % chroma_rows)) continue;
        Word* row = blocks.chroma_words + (i >> 3) * block_pitch + 4 * (i & 7);
        int v[8];
        load_coefficients(row, v);
        inverse_dct<DctPass::second>(v);
        row[0] = saturate_to_s8(v[0], v[1], v[2], v[3]);
        row[1] = saturate_to_s8(v[4], v[5], v[6], v[7]);
    }
}

// Four decoded samples from `column`, a multiple of four, and one on either side. `column` and `row` count from the
// tile's first sample.
template <int K>
inline void load_chroma(JpegBlocks<K>& blocks, int plane, int column, int row, int (&samples)[6]) {
    auto word_at = [&](int at) { return blocks.chroma_row(plane, at >> 3, row)[at >> 2 & 1]; };
    auto byte = [](Word word, int i) { return static_cast<int>(static_cast<signed char>(word >> (8 * i))); };
    const Word previous = word_at(column - 4), current = word_at(column), next = word_at(column + 4);
    samples[0] = byte(previous, 3);
    for (int i = 0; i < 4; ++i) samples[i + 1] = byte(current, i);
    samples[5] = byte(next, 0);
}

// Chroma of the eight pixels of row y of the image that begin in column x.
template <int K>
inline void upsample_chroma(const JpegTileRect& rect, JpegBlocks<K>& blocks, int plane, int x, int y, int (&out)[8]) {
    const ChromaSize size = chroma_size(rect.height, rect.width);
    const int column = (x - rect.x) >> 1, first_row = rect.y >> 1;
    int nearest_row[6], next_row[6], sums[6];  // from the sample left of the pixels to the one right of them
    load_chroma(blocks, plane, column, (y >> 1) - first_row, nearest_row);
    load_chroma(blocks, plane, column, size.next_row(y) - first_row, next_row);
    for (int i = 0; i < 6; ++i) sums[i] = 3 * nearest_row[i] + next_row[i];
    if (x == 0) sums[0] = sums[1];
    for (int i = 2; i < 6; ++i)
        if ((x >> 1) + i - 1 >= size.width) sums[i] = sums[i - 1];
    for (int i = 0; i < 8; ++i) {
        const int nearest_sum = sums[i / 2 + 1], adjacent_sum = sums[i & 1 ? i / 2 + 2 : i / 2];
        out[i] = upsampled(nearest_sum, size.interpolates() ? adjacent_sum : nearest_sum, i & 1);
    }
}

// Transforms rows of luma back, and stores pixels. A thread makes eight adjacent pixels.
template <class Layout, int K>
inline void store_tile(const JpegFrame<Layout, K>& out, const JpegTileRect& rect, JpegBlocks<K>& blocks) {
    for (int i = threadIdx.x; i < 8 * blocks.luma; i += jpeg_threads) {
        const int block_x = i % luma_columns, row = i / luma_columns;
        const int x = rect.x + 8 + 8 * block_x, y = rect.y + 8 + row;
        if (!rect.writes(block_x, row >> 3) || y >= rect.height) continue;
        int luma[8], cb[8] = {}, cr[8] = {};
        load_coefficients(blocks.luma_row(block_x, row >> 3, row & 7), luma);
        inverse_dct<DctPass::second>(luma);
        if constexpr (K == 3) {
            upsample_chroma(rect, blocks, 0, x, y, cb);
            upsample_chroma(rect, blocks, 1, x, y, cr);
        }
        int pixel[8][K];
        for (int j = 0; j < 8; ++j) {
            const int sample = min(max(luma[j], -128), 127);
            if constexpr (K == 3)
                ycbcr_to_rgb(sample, cb[j], cr[j], pixel[j][0], pixel[j][1], pixel[j][2]);
            else
                pixel[j][0] = sample + 128;
        }
        out.store(y, x, rect.width, pixel);
    }
}

// For a sample that stays as it is: quality 0.
template <class InLayout, class OutLayout, int K>
inline void copy_tile(const JpegFrame<InLayout, K>& in, const JpegFrame<OutLayout, K>& out, const JpegTileRect& rect) {
    for (int i = threadIdx.x; i < luma_columns * 8 * luma_rows; i += jpeg_threads) {
        const int block_x = i % luma_columns, row = i / luma_columns;
        const int x = rect.x + 8 + 8 * block_x, y = rect.y + 8 + row;
        if (!rect.writes(block_x, row >> 3) || y >= rect.height) continue;
        int pixel[8][K];
        in.load(y, x, rect.width, pixel);
        out.store(y, x, rect.width, pixel);
    }
}

// Codes as JPEG, and decodes: a block makes a tile of 128x64 pixels. Grid: (tiles in x, tiles in y, frames).
template <class In, class InLayout, int K, class OutLayout>
__global__ void __launch_bounds__(jpeg_threads, jpeg_resident_blocks<InLayout, OutLayout>)
    jpeg(const __grid_constant__ PointwiseRecord args) {
    __shared__ JpegBlocks<K> blocks;
    const JpegTileRect rect = {8 * luma_columns * static_cast<int>(blockIdx.x) - 16,
                               8 * luma_rows * static_cast<int>(blockIdx.y) - 16, args.in_height, args.in_width};
    for (long long frame = blockIdx.z; frame < args.samples * args.frames; frame += gridDim.z) {
        const long long n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const JpegFrame<InLayout, K> in = jpeg_frame<InLayout, K>(args.in, n, t, args.in_vector_elements);
        const JpegFrame<OutLayout, K> out = jpeg_frame<OutLayout, K>(args.out, n, t, args.out_vector_elements);
        const int quality = jpeg_quality(parameter(args, n, 0));
        if (quality == 0) {
            copy_tile(in, out, rect);
            continue;
        }
        fill_quantization(quality, blocks);
        transform_rows(in, rect, blocks);
        __syncthreads();
        code_columns(rect, blocks);
        __syncthreads();
        decode_chroma_rows(rect, blocks);
        __syncthreads();
        store_tile(out, rect, blocks);
        __syncthreads();
    }
}

}  // namespace cuaug
