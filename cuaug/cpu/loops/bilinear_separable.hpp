#pragma once

#include "source_box.hpp"
#include "row_segment.hpp"
#include "rgba32.hpp"

// Bilinear bytes where x depends on the column alone and y on the row: crops, flips, plain scaling. A row of the input
// is interpolated across once, for all rows of the output that lie beside it; those are sums of two such rows.

namespace cuaug {

constexpr int strip_width = 1024,
              strip_pitch = strip_width + 16;  // not a power of two: rows would share lines of the cache

struct SeparableWorkspace {
    int column[strip_width], row[tile_height];     // the first of two that a pixel lies between
    float right[strip_width], below[tile_height];  // the share of the second
    alignas(64) Rgba32 words[max_box_side + 32];
    alignas(64) Rgba32 here[strip_pitch], beside[strip_pitch];
    alignas(64) Rgba32 result[strip_pitch];
    alignas(64) float across[2][4][strip_pitch];  // rows of the input, channel by channel
};
static_assert(sizeof(SeparableWorkspace) <= native::workspace_bytes, "the workspace holds a task's memory");

// Splits the coordinates at(0) .. at(count - 1); false if one is not finite, or far away.
template <class At>
inline bool split_coordinates(const At& at, int count, int* whole, float* fraction) {
    constexpr double far = 1 << 20;
    int is_near_base = 1;
    for (int i = 0; i < count; ++i) {
        const double place = at(i), kept = fmin(fmax(place, -far), far),
                     least = floor(kept);  // what is far, or no number, is an int as well
        is_near_base &= place == kept;
        whole[i] = static_cast<int>(least);
        fraction[i] = static_cast<float>(kept - least);
    }
    return is_near_base != 0;
}

// words[column] and the words beside them.
inline void gather_neighbours(const Rgba32* __restrict__ words, const int* __restrict__ column, int count,
                              Rgba32* __restrict__ here, Rgba32* __restrict__ beside) {
    int i = 0;
#ifdef __AVX512F__
    // Sixteen columns that lie close together are in two vectors.
    for (; i + 16 <= count; i += 16) {
        const int first = column[i] < column[i + 15] ? column[i] : column[i + 15],
                  last = column[i] + column[i + 15] - first;
        if (last - first > 30) break;
        const __m512i low = _mm512_loadu_si512(words + first), high = _mm512_loadu_si512(words + first + 16);
        const __m512i which = _mm512_sub_epi32(_mm512_loadu_si512(column + i), _mm512_set1_epi32(first));
        _mm512_storeu_si512(here + i, _mm512_permutex2var_epi32(low, which, high));
        _mm512_storeu_si512(beside + i,
                            _mm512_permutex2var_epi32(low, _mm512_add_epi32(which, _mm512_set1_epi32(1)), high));
    }
#endif
    for (; i < count; ++i) here[i] = words[column[i]], beside[i] = words[column[i] + 1];
}

// Between each two neighbours, channel by channel.
inline void interpolate_across(const Rgba32* __restrict__ here, const Rgba32* __restrict__ beside,
                               const float* __restrict__ right, int count, int channels,
                               float (*__restrict__ row)[strip_pitch]) {
    auto level = [](Rgba32 word, int k) { return static_cast<float>(static_cast<int>(word >> (8 * k) & 255)); };
    dispatch_channels(channels, [&](auto all) {
        for (int i = 0; i < count; ++i)
            for (int k = 0; k < decltype(all)::value; ++k)
                row[k][i] = level(here[i], k) + right[i] * (level(beside[i], k) - level(here[i], k));
    });
}

// Words of the pixels between two rows.
inline void interpolate_rows(const float (*__restrict__ upper)[strip_pitch],
                             const float (*__restrict__ lower)[strip_pitch], float below, int count, int channels,
                             Rgba32* __restrict__ words) {
    // 1.5 * 2^23: the low bits are the nearest whole number, ties to even.
    auto level = [&](int k, int i) {
        return float_to_bits(upper[k][i] + below * (lower[k][i] - upper[k][i]) + 12582912.0f) & 255;
    };
    if (channels < 3)
        for (int i = 0; i < count; ++i) words[i] = level(0, i) | level(channels - 1, i) << 8;
    else
        for (int i = 0; i < count; ++i) words[i] = level(0, i) | level(1, i) << 8 | level(2, i) << 16;
    if (channels == 4)
        for (int i = 0; i < count; ++i) words[i] |= level(3, i) << 24;
}

// Columns left .. left + width and rows top .. top + height of a frame, whose places in the input stand in `memory`; x
// does not turn back. False where the pixels of a row lie too far apart.
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
        bool made[2] = {};
        int which[2] = {};
        auto row_at = [&](int y) {
            const int slot = y & 1;
            if (!made[slot] || which[slot] != y) {
                stage_box<Rgba32, 1>(
                    args, border, {low, y, span, 1, span}, 0, 0, workspace.words,
                    [&](int row, int from, int count, Rgba32* to) { load_rgba32(in, row, from, count, to); },
                    [&](Rgba32* to, int count) {
                        for (int i = 0; i < count; ++i) to[i] = fill;
                    });
                gather_neighbours(workspace.words, workspace.column, width, workspace.here, workspace.beside);
                interpolate_across(workspace.here, workspace.beside, workspace.right, width, in.channels,
                                   workspace.across[slot]);
                made[slot] = true;
                which[slot] = y;
            }
            return workspace.across[slot];
        };
        for (int dy = 0; dy < height; ++dy) {
            auto *upper = row_at(workspace.row[dy]), *lower = row_at(workspace.row[dy] + 1);
            interpolate_rows(upper, lower, workspace.below[dy], width, in.channels, workspace.result);
            store_rgba32(workspace.result, width, out, top + dy, left);
        }
    }
    return true;
}

// The same by the call's geometry; false also where x and y depend on both row and column.
inline bool warp_strip(const native::WarpCall& call, const WarpCommon& args, long long n, long long t, int left,
                       int width, int top, int height, SeparableWorkspace& workspace) {
    if (call.geometry != geometry_of<Affine>) return false;
    const Affine::Matrix m = static_cast<const WarpRecord<Affine>*>(call.record)->geometry.sample(n);
    return m.b == 0.0 && m.d == 0.0 &&
           split_coordinates([&](int i) { return m.a * (left + i) + m.c; }, width, workspace.column, workspace.right) &&
           split_coordinates([&](int i) { return m.e * (top + i) + m.f; }, height, workspace.row, workspace.below) &&
           interpolate_strip(args, call.border, n, t, left, width, top, height, workspace);
}

}  // namespace cuaug
