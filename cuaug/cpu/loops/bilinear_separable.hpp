#pragma once

#include "source_box.hpp"
#include "row_segment.hpp"
#include "rgba32.hpp"

// Bilinear sampling of uint8 where x depends on the column alone and y on the row: crops, flips, scaling. A row of the
// input is interpolated horizontally once, for all rows of the output that lie next to it; a row of the output is a sum
// of two such rows.

namespace cuaug {

constexpr int strip_width = 1024,
              strip_pitch = strip_width + 16;  // rows a power of two apart would compete for the same cache lines

struct SeparableWorkspace {
    int column[strip_width], row[tile_height];                   // the first of the two that a pixel lies between
    float right_weight[strip_width], lower_weight[tile_height];  // the weight of the second
    alignas(64) Rgba32 row_pixels[max_box_side + 32];
    alignas(64) Rgba32 left_pixels[strip_pitch], right_pixels[strip_pitch];
    alignas(64) Rgba32 result[strip_pitch];
    alignas(64) float interpolated[2][4][strip_pitch];  // two rows of the input, an array per channel
};
static_assert(sizeof(SeparableWorkspace) <= native::workspace_bytes);

// Splits the coordinates at(0) .. at(count - 1) into whole part and fraction; false if one is not finite, or beyond
// 2^20.
template <class At>
inline bool split_coordinates(const At& at, int count, int* whole, float* fraction) {
    constexpr double far = 1 << 20;
    int valid = 1;
    for (int i = 0; i < count; ++i) {
        const double coordinate = at(i);
        const double clamped = fmin(fmax(coordinate, -far), far), rounded_down = floor(clamped);  // converts to int
        valid &= coordinate == clamped;
        whole[i] = static_cast<int>(rounded_down);
        fraction[i] = static_cast<float>(clamped - rounded_down);
    }
    return valid != 0;
}

// row_pixels[column] and their right neighbours.
inline void gather_neighbours(const Rgba32* __restrict__ row_pixels, const int* __restrict__ column, int count,
                              Rgba32* __restrict__ left_pixels, Rgba32* __restrict__ right_pixels) {
    int i = 0;
#ifdef __AVX512F__
    // Sixteen columns that lie close together are read as two vectors.
    for (; i + 16 <= count; i += 16) {
        const int first = column[i] < column[i + 15] ? column[i] : column[i + 15],
                  last = column[i] + column[i + 15] - first;
        if (last - first > 30) break;
        const __m512i low = _mm512_loadu_si512(row_pixels + first), high = _mm512_loadu_si512(row_pixels + first + 16);
        const __m512i index = _mm512_sub_epi32(_mm512_loadu_si512(column + i), _mm512_set1_epi32(first));
        _mm512_storeu_si512(left_pixels + i, _mm512_permutex2var_epi32(low, index, high));
        _mm512_storeu_si512(right_pixels + i,
                            _mm512_permutex2var_epi32(low, _mm512_add_epi32(index, _mm512_set1_epi32(1)), high));
    }
#endif
    for (; i < count; ++i) left_pixels[i] = row_pixels[column[i]], right_pixels[i] = row_pixels[column[i] + 1];
}

// The row between left and right neighbours, an array per channel.
inline void interpolate_across(const Rgba32* __restrict__ left_pixels, const Rgba32* __restrict__ right_pixels,
                               const float* __restrict__ right_weight, int count, int channels,
                               float (*__restrict__ row)[strip_pitch]) {
    auto level = [](Rgba32 pixel, int k) { return static_cast<float>(static_cast<int>(pixel >> (8 * k) & 255)); };
    dispatch_channels(channels, [&](auto all) {
        for (int i = 0; i < count; ++i)
            for (int k = 0; k < decltype(all)::value; ++k)
                row[k][i] =
                    level(left_pixels[i], k) + right_weight[i] * (level(right_pixels[i], k) - level(left_pixels[i], k));
    });
}

// The pixels between two rows.
inline void interpolate_rows(const float (*__restrict__ upper)[strip_pitch],
                             const float (*__restrict__ lower)[strip_pitch], float lower_weight, int count,
                             int channels, Rgba32* __restrict__ row_pixels) {
    // Adding 1.5 * 2^23 leaves the nearest integer, ties to even, in the low bits.
    auto level = [&](int k, int i) {
        return float_to_bits(upper[k][i] + lower_weight * (lower[k][i] - upper[k][i]) + 12582912.0f) & 255;
    };
    if (channels < 3)
        for (int i = 0; i < count; ++i) row_pixels[i] = level(0, i) | level(channels - 1, i) << 8;
    else
        for (int i = 0; i < count; ++i) row_pixels[i] = level(0, i) | level(1, i) << 8 | level(2, i) << 16;
    if (channels == 4)
        for (int i = 0; i < count; ++i) row_pixels[i] |= level(3, i) << 24;
}

// Columns left .. left + width and rows top .. top + height of a frame. Their coordinates in the input are in the
// workspace, and those of x are monotone. False if the pixels of a row lie too far apart.
inline bool interpolate_strip(const WarpCommon& args, native::Border border, long long n, long long t, int left,
                              int width, int top, int height, SeparableWorkspace& workspace) {
    const int first = workspace.column[0], last = workspace.column[width - 1], low = first < last ? first : last,
              span = (first < last ? last : first) + 2 - low;
    if (span > max_box_side) return false;
    for (int i = 0; i < width; ++i) workspace.column[i] -= low;
    for (int c = 0; c < args.channels; c += 4) {
        const ChannelGroup in = channel_group<uint8>(args.in, n, t, c, args.channels),
                           out = channel_group<uint8>(args.out, n, t, c, args.channels);
        const Rgba32 fill = rgba32_of(fill_pixel<uint8>(args.fill, n, c, args.channels));
        bool valid[2] = {};
        int index[2] = {};
        auto interpolated_row = [&](int y) {
            const int slot = y & 1;
            if (!valid[slot] || index[slot] != y) {
                stage_box<Rgba32, 1>(
                    args, border, {low, y, span, 1, span}, 0, 0, workspace.row_pixels,
                    [&](int row, int from, int count, Rgba32* to) { load_rgba32(in, row, from, count, to); },
                    [&](Rgba32* to, int count) {
                        for (int i = 0; i < count; ++i) to[i] = fill;
                    });
                gather_neighbours(workspace.row_pixels, workspace.column, width, workspace.left_pixels,
                                  workspace.right_pixels);
                interpolate_across(workspace.left_pixels, workspace.right_pixels, workspace.right_weight, width,
                                   in.channels, workspace.interpolated[slot]);
                valid[slot] = true;
                index[slot] = y;
            }
            return workspace.interpolated[slot];
        };
        for (int dy = 0; dy < height; ++dy) {
            auto *upper = interpolated_row(workspace.row[dy]), *lower = interpolated_row(workspace.row[dy] + 1);
            interpolate_rows(upper, lower, workspace.lower_weight[dy], width, in.channels, workspace.result);
            store_rgba32(workspace.result, width, out, top + dy, left);
        }
    }
    return true;
}

// False if the geometry does not allow it: x or y depends on both row and column, or pixels of a row lie too far apart.
inline bool warp_strip(const native::WarpCall& call, const WarpCommon& args, long long n, long long t, int left,
                       int width, int top, int height, SeparableWorkspace& workspace) {
    if (call.geometry != geometry_of<Affine>) return false;
    const Affine::Matrix m = static_cast<const WarpRecord<Affine>*>(call.record)->geometry.sample(n);
    return m.b == 0.0 && m.d == 0.0 &&
           split_coordinates([&](int i) { return m.a * (left + i) + m.c; }, width, workspace.column,
                             workspace.right_weight) &&
           split_coordinates([&](int i) { return m.e * (top + i) + m.f; }, height, workspace.row,
                             workspace.lower_weight) &&
           interpolate_strip(args, call.border, n, t, left, width, top, height, workspace);
}

}  // namespace cuaug
