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
        const int plane_block = chroma_block % (jpeg_chroma_blocks * jpeg_chroma_blocks);
        if (is_luma ? !rect.makes(luma_block / jpeg_luma_blocks, luma_block % jpeg_luma_blocks)
                    : !rect.reads(plane_block / jpeg_chroma_blocks, plane_block % jpeg_chroma_blocks))
            continue;
        Word* words =
            (is_luma ? blocks.luma_row(luma_block / jpeg_luma_blocks, luma_block % jpeg_luma_blocks, 0)
                     : blocks.chroma_words + chroma_block * jpeg_block_pitch) +
            pair;
        const QuantizationPair* table = blocks.quantization[is_luma ? 0 : K / 3] + pair;
        int left[8], right[8];
        for (int y = 0; y < 8; ++y) {
            left[y] = static_cast<int16>(words[4 * y] & 0xffff);
            right[y] = static_cast<int>(words[4 * y]) >> 16;
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
        for (int y = 0; y < 8; ++y) words[4 * y] = permute_bytes(left[y], right[y], low_halves);
    }
}

// Transforms rows of chroma back. The samples, bytes, replace the first half of a row of coefficients.
template <int K>
inline void decode_chroma_rows(const JpegTileRect& rect, JpegBlocks<K>& blocks) {
    for (int i = threadIdx.x; i < 8 * blocks.chroma; i += jpeg_threads) {
        const int plane_block = (i >> 3) % (jpeg_chroma_blocks * jpeg_chroma_blocks);
        if (!rect.reads(plane_block / jpeg_chroma_blocks, plane_block % jpeg_chroma_blocks)) continue;
        Word* words = blocks.chroma_words + (i >> 3) * jpeg_block_pitch + 4 * (i & 7);
        int v[8];
        load_coefficients(words, v);
        inverse_dct<DctPass::second>(v);
        for (int j = 0; j < 8; ++j) v[j] = clamp_sample(v[j]);
        for (int half = 0; half < 2; ++half)
            words[half] = permute_bytes(permute_bytes(v[4 * half], v[4 * half + 1], 0x0040),
                                        permute_bytes(v[4 * half + 2], v[4 * half + 3], 0x0040), low_halves);
    }
}

// Four decoded samples from `column`, a multiple of four, and one on either side.
template <int K>
inline void load_chroma(JpegBlocks<K>& blocks, int plane, int column, int row, int (&samples)[6]) {
    auto word_at = [&](int at) { return blocks.chroma_row(plane, at >> 3, row)[at >> 2 & 1]; };
    auto byte = [](Word word, int i) { return static_cast<int>(static_cast<signed char>(word >> (8 * i))); };
    const Word before = word_at(column - 4), words = word_at(column), after = word_at(column + 4);
    samples[0] = byte(before, 3);
    for (int i = 0; i < 4; ++i) samples[i + 1] = byte(words, i);
    samples[5] = byte(after, 0);
}

// Chroma of eight pixels of row y from an even column on: `x`, of the tile.
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
        const int nearest = sums[i / 2 + 1], beside = sums[i & 1 ? i / 2 + 2 : i / 2];
        out[i] = upsampled(nearest, size.interpolates() ? beside : nearest, i & 1);
    }
}

// Transforms rows of luma back, and stores pixels. A thread makes eight adjacent pixels.
template <class Layout, int K>
inline void store_tile(const JpegFrame<Layout, K>& out, const JpegTileRect& rect, JpegBlocks<K>& blocks) {
    for (int i = threadIdx.x; i < 8 * blocks.luma; i += jpeg_threads) {
        const int block_x = i % jpeg_luma_blocks, row = i / jpeg_luma_blocks;
        const int x = rect.x + 8 + 8 * block_x, y = rect.y + 8 + row;
        if (!rect.makes(block_x, row >> 3) || y >= rect.height) continue;
        int luma[8], cb[8] = {}, cr[8] = {};
        load_coefficients(blocks.luma_row(block_x, row >> 3, row & 7), luma);
        inverse_dct<DctPass::second>(luma);
        if constexpr (K == 3) {
            upsample_chroma(rect, blocks, 0, x, y, cb);
            upsample_chroma(rect, blocks, 1, x, y, cr);
        }
        for (int first = 0; first < 8 && x + first < rect.width; first += 4) {
            FourPixels<uint8, K> pixels;
            for (int j = 0; j < 4; ++j) {
                const int sample = clamp_sample(luma[first + j]);
                int value[3] = {sample + 128};
                if constexpr (K == 3)
                    ycbcr_to_rgb(sample, cb[first + j], cr[first + j], value[0], value[1], value[2]);
                RawPixel<uint8, K> pixel;
                for (int k = 0; k < K; ++k) pixel.c[k] = static_cast<uint8>(min(max(value[k], 0), 255));
                pixels.v[j] = to_word_pixel(pixel);
            }
            out.store(y, x + first, rect.width, pixels);
        }
    }
}

template <class InLayout, class OutLayout, int K>
inline void copy_tile(const JpegFrame<InLayout, K>& in, const JpegFrame<OutLayout, K>& out, const JpegTileRect& rect) {
    constexpr int size = 8 * jpeg_luma_blocks;
    for (int i = threadIdx.x; i < size * size / 4; i += jpeg_threads) {
        const int row = i / (size / 4), x = rect.x + 8 + 4 * (i - row * (size / 4)), y = rect.y + 8 + row;
        if (x >= 0 && x < rect.width && y >= 0 && y < rect.height) out.store(y, x, rect.width, in.load(y, x, rect.width));
    }
}

// Codes as JPEG, and decodes: a block makes a tile of 64x64 pixels. Grid: (tiles in x, tiles in y, frames).
template <class In, class InLayout, int K, class OutLayout>
__global__ void __launch_bounds__(jpeg_threads) jpeg(const __grid_constant__ PointwiseRecord args) {
    constexpr int size = 8 * jpeg_luma_blocks;
    __shared__ JpegBlocks<K> blocks;
    const JpegTileRect rect = {static_cast<int>(blockIdx.x) * size - 16, static_cast<int>(blockIdx.y) * size - 16,
                               args.in_height, args.in_width};
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
