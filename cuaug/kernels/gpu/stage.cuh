#pragma once

#include "borders/border.cuh"
#include "geometry/tile_map.cuh"
#include "samplers/image.cuh"
#include "gpu/fixed_point.cuh"
#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"
#include "gpu/wide_multiply.cuh"

// A block makes tiles of the output, each from one box of the input. The box is staged in shared memory with its border
// resolved, so that sampling needs neither bounds checks nor uncoalesced loads.

namespace cuaug {

constexpr int warp_image_threads = 256, max_tiles = 16;

// Blocks resident on a multiprocessor: as many as leave the usual kernels enough registers to spill nothing.
// `is_plain`: the map is affine, and the input's layout is not Strided.
template <class Pixel, class R, class Sampler, bool is_plain>
constexpr int staged_resident_blocks = sizeof(R) > 4                                   ? 1
                                       : Sampler::taps_after > 1 || sizeof(Pixel) > 12 ? 2
                                       : is_plain                                      ? 4
                                                                                       : 3;
template <class Pixel>
constexpr int region_width = sizeof(Pixel) <= 4 ? 64 : 32;
template <class Pixel>
constexpr int stage_pixels = sizeof(Pixel) <= 4 ? 8 : 4;  // adjacent pixels that a thread stages at a time: a group
constexpr int shared_bytes = 49152;                       // of a block, without the opt-in for more

// The input pixels that a tile reads. `groups` is 0 if they are unknown or too many. In a raw box (raw_box.cuh) groups
// are chunks and the pitch is in bytes.
struct SourceBox {
    int x, y;            // counted from the tile's base; a staged box begins at a multiple of a group in the image
    int groups, height;  // groups in a row, rows
    int pitch;           // pixels from row to row in shared memory
    int rows_per_pass;   // rows that the block stages at a time
    float inv_groups;    // 1 / groups
};

// A warp samples a patch of 8x4 pixels, rotated by any angle. A pitch of 8 or 24 (mod 32) words has the fewest bank
// conflicts: 1.7 taps per bank, where other pitches that keep rows 16-byte aligned have 1.9 to 4.2 (simulated over
// rotations within 30 degrees). Wider pixels have no room for such a pitch and take an odd multiple of 4.
template <class Pixel>
inline int pitch_of(int width) {
    if (sizeof(Pixel) > 4) return width | 4;
    const int rest = width & 31;
    return width - rest + (rest <= 8 ? 8 : rest <= 24 ? 24 : 40);
}

// The source box of points within `bounds`, which count from the tile's base, in at most `max_bytes` of shared memory.
template <class Pixel, class R>
inline SourceBox staged_box_of(const Bounds<R>& bounds, int base_x, int taps_before, int taps_after, int max_bytes,
                               int max_side) {
    constexpr int mask = stage_pixels<Pixel> - 1;
    const R slack = R(1.0 / 256), limit = R(1 << 20);
    const bool near =
        (bounds.x_low > -limit) & (bounds.x_high < limit) & (bounds.y_low > -limit) & (bounds.y_high < limit);
    const int first = static_cast<int>(floor(bounds.x_low - slack)) - taps_before,
              x = first - ((base_x + first) & mask);
    const int y = static_cast<int>(floor(bounds.y_low - slack)) - taps_before;
    const int width = (static_cast<int>(floor(bounds.x_high + slack)) + taps_after - x + mask + 1) & ~mask;
    const int height = static_cast<int>(floor(bounds.y_high + slack)) + taps_after - y + 1;
    const int pitch = pitch_of<Pixel>(width), groups = width / stage_pixels<Pixel>;
    const bool fits = near & (width <= max_side) & (height <= max_side) &
                      (static_cast<unsigned int>(pitch) * height * sizeof(Pixel) <= max_bytes);
    const float inv_groups = __fdividef(1.0f, static_cast<float>(groups));
    return {x,         y, fits ? groups : 0, height, pitch, static_cast<int>((warp_image_threads + 0.5f) * inv_groups),
            inv_groups};
}

// The staged box, for a sampler whose coordinates count from the box's first pixel.
template <class T, int K>
struct StagedBox {
    const WordPixel<T, K>* pixels;
    int pitch;

    // For x >= 0, 2 + x 2^-22 rounded down has the bits 2^30 + floor(x): the floor without conversions, which run at a
    // fraction of the rate of additions. The 2^30 stays in the index; in the address it is a multiple of 2^32 or
    // masked.
    static int split_floor(float x, float& fraction) {
        const float t = __fmaf_rd(x, 1.0f / 4194304.0f, 2.0f);
        fraction = x - (t * 4194304.0f - 8388608.0f);
        return __float_as_int(t);
    }

    static int split_floor(double x, double& fraction) {
        fraction = x - floor(x);
        return __double2int_rd(x);
    }

    WordPixel<T, K> word_pixel(int x, int y) const {
        constexpr unsigned int size = sizeof(WordPixel<T, K>), mask = size % 4 ? 0x3fffffffu : ~0u;
        return word_pixel_at((static_cast<unsigned int>(y) * (size * pitch) + size * static_cast<unsigned int>(x)) &
                             mask);
    }

    WordPixel<T, K> word_pixel_at(Word byte) const {
        return *reinterpret_cast<const WordPixel<T, K>*>(reinterpret_cast<const char*>(pixels) + byte);
    }

    RawPixel<T, K> raw_pixel(int x, int y) const { return to_raw_pixel(word_pixel(x, y)); }

    // The pixel above and left of a point, or the pixel `right` columns and `down` rows from it.
    RawPixel<T, K> raw_pixel(const FixedPoint& p, int right = 0, int down = 0) const {
        constexpr Word size = sizeof(WordPixel<T, K>);
        return to_raw_pixel(word_pixel_at(address_of(p, size, size * pitch, 0) + down * size * pitch + right * size));
    }

    Pixel<ComputeType<T>, K> pixel(int x, int y) const { return to_pixel<ComputeType<T>>(raw_pixel(x, y)); }
};

struct alignas(16) HalfGroup {
    Word word[4];
};

// Stores the pixels of a group in shared memory. If groups have 32 bytes, every other four lanes store their halves in
// the opposite order, so that eight lanes reach all banks.
template <class T, int K, int Fours>
inline void store_group(FourPixels<T, K>* to, const FourPixels<T, K> (&four)[Fours]) {
    if constexpr (sizeof(four) == 2 * sizeof(HalfGroup)) {
        HalfGroup half[2], *at = reinterpret_cast<HalfGroup*>(to);
        memcpy(half, four, sizeof(four));
        const bool swapped = threadIdx.x & 4;
        at[swapped ? 1 : 0] = swapped ? half[1] : half[0];
        at[swapped ? 0 : 1] = swapped ? half[0] : half[1];
    } else {
        for (int j = 0; j < Fours; ++j) to[j] = four[j];
    }
}

// Replaces the pixels of a group outside the window, before pixel `window_begin` and from pixel `window_end` on, by
// those of the border.
template <class Border, class T, int K, int Fours>
inline void fill_outside_window(FourPixels<T, K> (&four)[Fours], int window_begin, int window_end,
                                WordPixel<T, K> fill) {
    WordPixel<T, K> left = fill, right = fill;
    for (int j = 0; j < 4 * Fours && is_same_v<Border, Edge>; ++j) {
        left = bitwise_select(j == window_begin, four[j / 4].v[j % 4], left);
        right = bitwise_select(j == window_end - 1, four[j / 4].v[j % 4], right);
    }
    for (int j = 0; j < 4 * Fours; ++j) {
        four[j / 4].v[j % 4] = bitwise_select(j < window_begin, left, four[j / 4].v[j % 4]);
        four[j / 4].v[j % 4] = bitwise_select(j >= window_end, right, four[j / 4].v[j % 4]);
    }
}

// Stages a box. Called by all threads of the block. Each keeps to one column of groups and walks down the rows; it
// loads `ahead` rows before it waits.
template <class Layout, class T, int K, class Border>
inline void stage(const Image<T, K, Border>& image, SourceBox box, int vector_elements, WordPixel<T, K> fill,
                  WordPixel<T, K>* pixels) {
    constexpr int group = stage_pixels<WordPixel<T, K>>, fours = group / 4, ahead = 2;
    const int y = static_cast<int>((threadIdx.x + 0.5f) * box.inv_groups), x = group * (threadIdx.x - y * box.groups);
    if (y >= box.rows_per_pass) return;
    const int column = image.base_x + x, step = box.rows_per_pass * (box.pitch / 4);
    FourPixels<T, K>* to = reinterpret_cast<FourPixels<T, K>*>(pixels + y * box.pitch + x);
    auto store_fill = [&](FourPixels<T, K>* four) {
        for (int j = 0; j < fours; ++j) four[j] = {{fill, fill, fill, fill}};
    };
    using BaseBorder = without_window_t<Border>;
    // Whether a group that a window's edge cuts is loaded whole and `fill_outside_window` then replaces the pixels
    // outside. All other groups that lie partly outside are staged pixel by pixel: those of other borders, those of
    // wider pixels, for which the replacement would take too many registers, and the group at the right
    // edge of the frame if the width is no multiple of a group.
    constexpr bool cuts_groups = Border::has_window &&
                                 (is_same_v<BaseBorder, Constant> || is_same_v<BaseBorder, Edge>) &&
                                 sizeof(WordPixel<T, K>) <= 4;
    const int window_begin = image.left() - column, window_end = window_begin + image.window.width;
    auto copy = [&](auto fours_per_load, bool is_whole) {
        const T* first = image.address(column, 0);
        for (int i = y; i < box.height; i += ahead * box.rows_per_pass) {
            Vectors<T, K, fours> loaded[ahead];
            bool inside[ahead];
            for (int n = 0; n < ahead; ++n) {
                // Without a branch all loads are under way before the thread waits for the first.
                const int row = image.row_of(min(i + n * box.rows_per_pass, box.height - 1));
                inside[n] = row >= 0;
                const T* at = first + mul_wide(inside[n] ? row : image.top(), image.y_stride);
                loaded[n] = load_vectors<Layout, T, K, fours, decltype(fours_per_load)::value>(at, image.offset);
            }
            for (int n = 0; n < ahead; ++n, to += step) {
                if (i + n * box.rows_per_pass >= box.height) break;
                if (inside[n]) {
                    FourPixels<T, K> four[fours];
                    for (int j = 0; j < fours; ++j) four[j] = elements_to_pixels<Layout, T, K>(loaded[n].elements[j]);
                    if constexpr (cuts_groups)
                        if (!is_whole) fill_outside_window<BaseBorder>(four, window_begin, window_end, fill);
                    store_group(to, four);
                } else {
                    store_fill(to);
                }
            }
        }
    };
    const bool is_whole = window_begin <= 0 && window_end >= group;
    if (!is_same_v<Layout, Strided> && vector_elements &&
        (cuts_groups ? column >= 0 && column + group <= image.frame_width && window_begin < group && window_end > 0
                     : is_whole)) {
        if (fours > 1 && vector_elements >= group)
            copy(Int<fours>(), is_whole);
        else
            copy(Int<1>(), is_whole);
    } else if (is_same_v<BaseBorder, Constant> && (window_end <= 0 || window_begin >= group)) {
        for (int i = y; i < box.height; i += box.rows_per_pass, to += step) store_fill(to);
    } else {
        for (int i = y; i < box.height; i += box.rows_per_pass, to += step)
#pragma unroll 1
            for (int j = 0; j < group; ++j) to[j / 4].v[j % 4] = to_word_pixel(image.raw_pixel(x + j, i));
    }
}

}  // namespace cuaug
