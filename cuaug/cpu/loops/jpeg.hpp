#pragma once

#include "jpeg/ycbcr.cuh"
#include "records/pointwise.cuh"
#include "batch_record.hpp"
#include "channel_io.hpp"
#include "jpeg_block.hpp"
#include "segment_tasks.hpp"

// The CPU loop that corresponds to kernels/passes/jpeg.cu. A task codes and decodes some rows of a frame, in tiles of
// up to segment_width columns.

namespace cuaug {

constexpr int mcu = 16;                             // pixels on a side of a block of chroma
constexpr int max_jpeg_tile = segment_width - mcu;  // pixels on a side of what a tile stores
constexpr int chroma_width = segment_width / 2;

// Rows or columns of a tile. Pixels need the chroma on either side of them, so a tile stores no pixels of the first
// half of its first block of 16, nor of the second half of its last block, except at the edges of the image.
struct JpegTileAxis {
    int first, blocks;  // pixel that the first block begins with, and number of blocks
    int begin, end;     // the pixels that are stored

    // The `index`-th tile of an axis of `extent` pixels. `size`: the pixels that a tile stores; the first one stores 8
    // fewer, and the last one what is left. `unshifted_begin`: where a tile of whole blocks would begin; what the tile
    // stores begins half a block before.
    JpegTileAxis(int index, int size, int extent) {
        const int unshifted_begin = index * size,
                  blocks_end = unshifted_begin + size < extent ? unshifted_begin + size : extent;
        first = index > 0 ? unshifted_begin - mcu : 0;
        blocks = (blocks_end - first + mcu - 1) / mcu;
        begin = index > 0 ? unshifted_begin - mcu / 2 : 0;
        end = unshifted_begin + size - mcu / 2 < extent ? unshifted_begin + size - mcu / 2 : extent;
    }

    static int count(int size, int extent) { return (extent + mcu / 2 + size - 1) / size; }
};

struct JpegTile {
    JpegTileAxis x, y;
};

// Luma and chroma are -128..127.
struct JpegWorkspace {
    SegmentWorkspace<float> pixels;
    // A row of blocks before it is coded, and two rows of chroma before their mean is taken.
    int luma[mcu][segment_width];
    int full_chroma[2][2][segment_width];  // [row, cb or cr]
    int chroma[2][mcu / 2][chroma_width];
    // The decoded tile. Rows are counted from the beginning of the tile.
    signed char decoded_luma[segment_width][segment_width];
    signed char decoded_chroma[2][chroma_width][chroma_width];
    int chroma_row_sums[chroma_width + 2];  // of a row of pixels: 3 * the nearer row + the other; the ends repeated
    int upsampled_chroma[2][segment_width];
    QuantizationTable luma_table, chroma_table;
};
static_assert(sizeof(JpegWorkspace) <= native::workspace_bytes);

__attribute__((noinline)) void convert_rgb(const float (*__restrict__ channel)[segment_width], int count,
                                           int* __restrict__ luma, int* __restrict__ cb, int* __restrict__ cr) {
    for (int i = 0; i < count; ++i)
        rgb_to_ycbcr(static_cast<int>(channel[0][i]), static_cast<int>(channel[1][i]), static_cast<int>(channel[2][i]),
                     luma[i], cb[i], cr[i]);
}

__attribute__((noinline)) void downsample(const int* __restrict__ upper, const int* __restrict__ lower, int count,
                                          int* __restrict__ out) {
    for (int i = 0; i < count; ++i)
        out[i] = mean_of_four(upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1], i);
}

// Loads and converts row y of the image; pixels beyond its right edge repeat the last one. `row`: in the row of blocks.
inline void load_components(const BatchRecord& args, const ChannelGroup& in, const JpegTileAxis& columns, int y,
                            int row, JpegWorkspace& workspace) {
    auto& channel = workspace.pixels.channel;
    const int width = mcu * columns.blocks,
              count = args.in_width - columns.first < width ? args.in_width - columns.first : width;
    load_channels<uint8>(in, y, columns.first, count, 1.0f, workspace.pixels);
    for (int k = 0; k < in.channels; ++k)
        for (int i = count; i < width; ++i) channel[k][i] = channel[k][count - 1];
    int* luma = workspace.luma[row];
    if (in.channels == 3)
        convert_rgb(channel, width, luma, workspace.full_chroma[row & 1][0], workspace.full_chroma[row & 1][1]);
    else
        for (int i = 0; i < width; ++i) luma[i] = static_cast<int>(channel[0][i]) - 128;
}

// Loads and converts the row of blocks that begins with row `top` of the image. Below the image the last row of luma is
// repeated, and the last row of chroma.
inline void load_block_row(const BatchRecord& args, const ChannelGroup& in, const JpegTileAxis& columns, int top,
                           JpegWorkspace& workspace) {
    auto& [upper, lower] = workspace.full_chroma;
    for (int row = 0; row < mcu; ++row) {
        // A row of chroma is made from two rows of pixels, an upper and a lower one.
        const bool is_lower = row & 1, exists = top + row < args.in_height,
                   both_rows_are_below_image = top + row - is_lower >= args.in_height;
        if (exists)
            load_components(args, in, columns, top + row, row, workspace);
        else
            memcpy(workspace.luma[row], workspace.luma[row - 1], sizeof(workspace.luma[row]));
        if (!exists && is_lower) memcpy(lower, upper, sizeof(lower));
        if (!is_lower || in.channels == 1) continue;
        for (int c = 0; c < 2; ++c) {
            int* chroma = workspace.chroma[c][row / 2];
            if (both_rows_are_below_image)
                memcpy(chroma, workspace.chroma[c][row / 2 - 1], sizeof(workspace.chroma[c][0]));
            else
                downsample(upper[c], lower[c], mcu / 2 * columns.blocks, chroma);
        }
    }
}

// Codes and decodes the row of blocks that begins with row `top` of the image.
inline void code_block_row(const JpegTile& tile, int top, int channels, JpegWorkspace& workspace) {
    const int row = top - tile.y.first;
    for (int half = 0; half < 2; ++half) {
        const int y = top + 8 * half;
        for (int x = 0; x < mcu * tile.x.blocks && y + 8 > tile.y.begin && y < tile.y.end; x += 8)
            code_block(&workspace.luma[8 * half][x], segment_width, workspace.luma_table,
                       &workspace.decoded_luma[row + 8 * half][x], segment_width);
    }
    for (int c = 0; c < channels - 1; ++c)
        for (int x = 0; x < mcu / 2 * tile.x.blocks; x += 8)
            code_block(&workspace.chroma[c][0][x], chroma_width, workspace.chroma_table,
                       &workspace.decoded_chroma[c][row / 2][x], chroma_width);
}

// out[i]: chroma of pixel i of a row. `nearest` and `next`: the rows of chroma that the row of pixels needs.
__attribute__((noinline)) void upsample(const signed char* __restrict__ nearest, const signed char* __restrict__ next,
                                        int count, bool interpolates, int* __restrict__ sum, int* __restrict__ out) {
    for (int i = 0; i < count; ++i) sum[i + 1] = 3 * nearest[i] + next[i];
    sum[0] = sum[1];
    sum[count + 1] = sum[count];
    const int *left = interpolates ? sum : sum + 1, *right = interpolates ? sum + 2 : sum + 1;
    for (int i = 0; i < count; ++i) {
        out[2 * i] = upsampled(sum[i + 1], left[i], false);
        out[2 * i + 1] = upsampled(sum[i + 1], right[i], true);
    }
}

__attribute__((noinline)) void convert_ycbcr(const signed char* __restrict__ luma, const int* __restrict__ cb,
                                             const int* __restrict__ cr, int count,
                                             float (*__restrict__ channel)[segment_width]) {
    for (int i = 0; i < count; ++i) {
        int r, g, b;
        ycbcr_to_rgb(static_cast<int>(luma[i]), cb[i], cr[i], r, g, b);
        channel[0][i] = static_cast<float>(r);
        channel[1][i] = static_cast<float>(g);
        channel[2][i] = static_cast<float>(b);
    }
}

// Stores the decoded pixels of row y of the image.
inline void store_decoded_row(const BatchRecord& args, const ChannelGroup& out, const JpegTile& tile, int y,
                              JpegWorkspace& workspace) {
    const int column = tile.x.begin - tile.x.first, count = tile.x.end - tile.x.begin;
    const signed char* luma = workspace.decoded_luma[y - tile.y.first] + column;
    auto& channel = workspace.pixels.channel;
    if (out.channels == 3) {
        const ChromaSize size = chroma_size(args.in_height, args.in_width);
        const int first_row = tile.y.first / 2, remaining_columns = size.width - tile.x.first / 2,
                  columns = mcu / 2 * tile.x.blocks;
        for (int c = 0; c < 2; ++c)
            upsample(workspace.decoded_chroma[c][y / 2 - first_row],
                     workspace.decoded_chroma[c][size.next_row(y) - first_row],
                     columns < remaining_columns ? columns : remaining_columns, size.interpolates(),
                     workspace.chroma_row_sums, workspace.upsampled_chroma[c]);
        convert_ycbcr(luma, workspace.upsampled_chroma[0] + column, workspace.upsampled_chroma[1] + column, count,
                      channel);
    } else {
        for (int i = 0; i < count; ++i) channel[0][i] = static_cast<float>(luma[i] + 128);
    }
    store_channels<uint8>(out, y, tile.x.begin, count, 1.0f, workspace.pixels);
}

// Rows that a tile stores: fewer if there are few frames, so that there are enough tasks.
inline int jpeg_tile_rows(const BatchRecord& args) { return args.samples * args.frames < 16 ? 64 : max_jpeg_tile; }

long long jpeg_task_count(const native::RecordCall& call) {
    const auto args = read_record<PointwiseRecord>(call.record);
    return args.samples * args.frames * JpegTileAxis::count(jpeg_tile_rows(args), args.in_height);
}

void jpeg_task(const native::RecordCall& call, long long task, void* memory) {
    const auto args = read_record<PointwiseRecord>(call.record);
    const int tile_rows = jpeg_tile_rows(args), tiles = JpegTileAxis::count(tile_rows, args.in_height);
    const long long frame = task / tiles, n = frame / args.frames, t = frame - n * args.frames;
    const JpegTileAxis rows(static_cast<int>(task - frame * tiles), tile_rows, args.in_height);
    const int quality = jpeg_quality(parameter(args, n, 0));
    if (quality == 0) return copy_rows<uint8>(args, {n, t, rows.begin, rows.end});
    auto& workspace = *static_cast<JpegWorkspace*>(memory);
    workspace.luma_table.fill(luma_quantization, quality);
    workspace.chroma_table.fill(chroma_quantization, quality);
    const ChannelGroup in = channel_group<uint8>(args.in, n, t, 0, args.channels),
                       out = channel_group<uint8>(args.out, n, t, 0, args.channels);
    for (int i = 0; i < JpegTileAxis::count(max_jpeg_tile, args.in_width); ++i) {
        const JpegTile tile = {JpegTileAxis(i, max_jpeg_tile, args.in_width), rows};
        for (int top = rows.first; top < rows.first + mcu * rows.blocks; top += mcu) {
            load_block_row(args, in, tile.x, top, workspace);
            code_block_row(tile, top, args.channels, workspace);
        }
        for (int y = rows.begin; y < rows.end; ++y) store_decoded_row(args, out, tile, y, workspace);
    }
}

}  // namespace cuaug
