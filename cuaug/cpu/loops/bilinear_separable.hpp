#pragma once

#include "source_box.hpp"
#include "row_segment.hpp"
#include "rgba32.hpp"

// Bilinear sampling of uint8 where x depends only on the column and y only on the row: crops, flips, scaling. A row of
// the input is interpolated horizontally once, for all adjacent rows of the output that need it; a row of the output is
// a weighted sum of two such rows.

namespace cuaug {

// A strip is a part of the output of at most strip_width x tile_height pixels: what a task of warp_image.hpp computes,
// unless it may copy pixels (nearest_strip.hpp).
constexpr int strip_width = 1024,
              strip_pitch = strip_width + 16;  // rows a power of two apart would compete for the same cache sets

struct SeparableWorkspace {
    // An output pixel lies between source columns left_column and left_column + 1, and between source rows upper_row
    // and upper_row + 1.
    int left_column[strip_width], upper_row[tile_height];
    float right_weight[strip_width], lower_weight[tile_height];
    alignas(64) Rgba32 row_pixels[max_box_side + 32];
    alignas(64) Rgba32 left_pixels[strip_pitch], right_pixels[strip_pitch];
    alignas(64) Rgba32 result[strip_pitch];
    alignas(64) float interpolated[2][4][strip_pitch];  // two rows of the input, interpolated horizontally, an array
                                                        // per channel
};
static_assert(sizeof(SeparableWorkspace) <= native::workspace_bytes);

// Splits the coordinates coordinate_at(0) .. coordinate_at(count - 1) into a whole and a fractional part; returns false
// if one is not finite, or beyond 2^20.
template <class CoordinateAt>
inline bool split_coordinates(const CoordinateAt& coordinate_at, int count, int* whole_part, float* fraction) {
    constexpr double limit = 1 << 20;
    int valid = 1;
    for (int i = 0; i < count; ++i) {
        const double coordinate = coordinate_at(i);
        const double clamped = fmin(fmax(coordinate, -limit), limit),  // in the range of int
            rounded_down = floor(clamped);
        valid &= coordinate == clamped;
        whole_part[i] = static_cast<int>(rounded_down);
        fraction[i] = static_cast<float>(clamped - rounded_down);
    }
    return valid != 0;
}

// left_pixels[i] = row_pixels[column[i]], and right_pixels[i] is its right neighbour. `column` is monotone.
inline void gather_neighbours(const Rgba32* __restrict__ row_pixels, const int* __restrict__ column, int count,
                              Rgba32* __restrict__ left_pixels, Rgba32* __restrict__ right_pixels) {
    int i = 0;
#ifdef __AVX512F__
    // Sixteen columns that lie close together are read with two vector loads.
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

// Interpolates between left and right neighbours; the result is an array per channel.
inline void interpolate_horizontally(const Rgba32* __restrict__ left_pixels, const Rgba32* __restrict__ right_pixels,
                                     const float* __restrict__ right_weight, int count, int channels,
                                     float (*__restrict__ row)[strip_pitch]) {
    auto level = [](Rgba32 pixel, int k) { return static_cast<float>(static_cast<int>(pixel >> (8 * k) & 255)); };
    dispatch_channels(channels, [&](auto channel_count) {
        for (int i = 0; i < count; ++i)
            for (int k = 0; k < decltype(channel_count)::value; ++k)
                row[k][i] =
                    level(left_pixels[i], k) + right_weight[i] * (level(right_pixels[i], k) - level(left_pixels[i], k));
    });
}

// Interpolates between two rows and packs the channels into pixels.
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

// Computes columns left .. left + width - 1 and rows top .. top + height - 1 of a frame from the source coordinates in
// the workspace, of which those along x are monotone. Returns false if the source columns of a row span too many
// pixels.
inline bool interpolate_strip(const WarpRecordBase& args, native::Border border, long long n, long long t, int left,
                              int width, int top, int height, SeparableWorkspace& workspace) {
    const int first = workspace.left_column[0], last = workspace.left_column[width - 1],
              low = first < last ? first : last, span = (first < last ? last : first) + 2 - low;
    if (span > max_box_side) return false;
    for (int i = 0; i < width; ++i) workspace.left_column[i] -= low;
    for (int c = 0; c < args.channels; c += 4) {
        const ChannelGroup in = channel_group<uint8>(args.in, n, t, c, args.channels),
                           out = channel_group<uint8>(args.out, n, t, c, args.channels);
        const Rgba32 fill = rgba32_of(fill_pixel<uint8>(args.fill, n, c, args.channels));
        bool slot_filled[2] = {};
        int slot_row[2] = {};
        auto interpolated_row = [&](int y) {
            const int slot = y & 1;
            if (!slot_filled[slot] || slot_row[slot] != y) {
                stage_box<Rgba32, 1>(
                    args, border, {low, y, span, 1, span}, 0, 0, workspace.row_pixels,
                    [&](int row, int first_column, int count, Rgba32* pixels) {
                        load_rgba32(in, row, first_column, count, pixels);
                    },
                    [&](Rgba32* pixels, int count) {
                        for (int i = 0; i < count; ++i) pixels[i] = fill;
                    });
                gather_neighbours(workspace.row_pixels, workspace.left_column, width, workspace.left_pixels,
                                  workspace.right_pixels);
                interpolate_horizontally(workspace.left_pixels, workspace.right_pixels, workspace.right_weight, width,
                                         in.channels, workspace.interpolated[slot]);
                slot_filled[slot] = true;
                slot_row[slot] = y;
            }
            return workspace.interpolated[slot];
        };
        for (int dy = 0; dy < height; ++dy) {
            auto *upper = interpolated_row(workspace.upper_row[dy]),
                 *lower = interpolated_row(workspace.upper_row[dy] + 1);
            interpolate_rows(upper, lower, workspace.lower_weight[dy], width, in.channels, workspace.result);
            store_rgba32(workspace.result, width, out, top + dy, left);
        }
    }
    return true;
}

// Returns false unless the geometry is affine, x depends on the column alone and y on the row alone, the coordinates
// are finite and at most 2^20, and the source columns of a row span at most max_box_side pixels.
inline bool warp_strip(const native::WarpCall& call, const WarpRecordBase& args, long long n, long long t, int left,
                       int width, int top, int height, SeparableWorkspace& workspace) {
    if (call.geometry != geometry_of<Affine>) return false;
    const Affine::Matrix m = static_cast<const WarpRecord<Affine>*>(call.record)->geometry.sample(n);
    return m.b == 0.0 && m.d == 0.0 &&
           split_coordinates([&](int i) { return m.a * (left + i) + m.c; }, width, workspace.left_column,
                             workspace.right_weight) &&
           split_coordinates([&](int i) { return m.e * (top + i) + m.f; }, height, workspace.upper_row,
                             workspace.lower_weight) &&
           interpolate_strip(args, call.border, n, t, left, width, top, height, workspace);
}

}  // namespace cuaug
