#pragma once

#include "gpu/pixel_convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/reduce.cuh"
#include "gpu/vectors.cuh"
#include "records/gaussian_blur.cuh"

// The vertical and the horizontal filter of gaussian_blur, for one tile.

namespace cuaug {

constexpr int blur_threads = 224, blur_warps = blur_threads / 32;
constexpr int blur_run = 8;  // adjacent pixels that a thread filters horizontally
template <class R>
constexpr int blur_rows = sizeof(R) == 4 ? 8 : 4;  // adjacent rows, of four elements, that a thread filters vertically
constexpr int blur_rows_ahead = 4;                 // rows that are loaded before the filter needs them
// Blocks resident on a multiprocessor, as many as their registers allow.
template <class In>
constexpr int blur_blocks = sizeof(In) == 8   ? 1
                            : sizeof(In) == 1 ? 3
                                              : 2;

// Channels that are filtered together: all channels of packed pixels, except for float64, of which four channels would
// not fit into shared memory.
template <class Layout, class In, int K>
constexpr int channels_together = is_same_v<Layout, Packed> && sizeof(In) < 8 ? K : 1;

template <class R>
struct alignas(16) Vector4 {
    R items[4];
};

inline int round_up4(int count) { return count + 3 & ~3; }

// Dynamic shared memory of a block; `blur_tile` of cuaug/_passes/blur_tiles.py counts its bytes. Rows are an odd number
// of 16-byte vectors apart, so that lanes that read one below the other have no bank conflicts.
template <class R, int C>
struct BlurTile {
    // Index of the central weight in `weights_x`, and number of pixels left of the tile in a row of `filtered`; a
    // multiple of four.
    int center;
    int pitch;
    R* weights_x;  // [2 * center + 4]: 0 outside the kernel; the last three only fill a vector
    R* weights_y;  // [kernel_height, rounded up to four]: the centre is at kernel_height / 2
    // Offsets of source rows in elements, from half a kernel above the tile on; rows outside the image are reflected.
    long long* row_offset;
    R* filtered;  // filtered vertically. [tile_height, pitch]

    BlurTile(char* memory, const GaussianBlurRecord& args) {
        constexpr int vector_elements = 16 / sizeof(R);
        center = round_up4(args.kernel_width / 2);
        pitch = (C * (args.tile_width + 2 * center + 4) / vector_elements | 1) * vector_elements;
        weights_x = reinterpret_cast<R*>(memory);
        weights_y = weights_x + 2 * center + 4;
        row_offset = reinterpret_cast<long long*>(weights_y + round_up4(args.kernel_height));
        filtered = reinterpret_cast<R*>(row_offset + row_offsets(args));
    }

    static int row_offsets(const GaussianBlurRecord& args) {
        return round_up4(args.tile_height + args.kernel_height + blur_rows_ahead);
    }
};

// Called by one warp. Computes the weights of the Gaussian about `center`, with sum 1, and zeros beyond `radius`.
// Returns the distance from the centre of the farthest weight that is above `min_weight` or NaN.
template <class In, class R>
inline int compute_gaussian(R* weight, int center, int radius, double sigma, int lane) {
    R sum = R(0);
    for (int i = lane; i <= 2 * center; i += 32) {
        weight[i] = abs(i - center) <= radius ? gaussian_weight<R>(i - center, sigma) : R(0);
        sum += weight[i];
    }
    sum = warp_sum(sum);
    int reach = 0;
    for (int i = lane; i <= 2 * center; i += 32) {
        weight[i] /= sum;
        if (weight[i] > R(min_weight<In>) || !(weight[i] == weight[i])) reach = max(reach, abs(i - center));
    }
    for (int i = 16; i > 0; i /= 2) reach = max(reach, __shfl_xor_sync(0xffffffffu, reach, i));
    return min(reach, radius);
}

// As `Reflect` (borders/border.cuh), for pixels near the image: one or two folds cost less than a division.
inline int reflect_near(int i, int n) {
    while (n > 1 && (i < 0 || i >= n)) i = i < 0 ? -i : 2 * n - 2 - i;
    return n > 1 ? i : 0;
}

template <class R, class T>
inline Vector4<R> to_vector4(const WordPixel<T, 4>& stored) {
    const Pixel<R, 4> pixel = to_pixel<R>(stored);
    return {{pixel.c[0], pixel.c[1], pixel.c[2], pixel.c[3]}};
}

// sum[i] += weight[t] * read(i + t), four columns at a time. A window of rows moves down with the taps, in registers:
// row i + t is at (i + t) % Rows. `Rows` is a multiple of `blur_rows_ahead`.
template <class T, class R, int Rows, class Read>
inline void filter_vertically(const Read& read, const R* weight, int taps, Vector4<R> (&sum)[Rows]) {
    WordPixel<T, 4> first[Rows], next[blur_rows_ahead];
    for (int i = 0; i < Rows; ++i) first[i] = read(i);
    for (int i = 0; i < blur_rows_ahead; ++i) next[i] = read(Rows + i);
    Vector4<R> window[Rows];
    for (int i = 0; i < Rows; ++i) window[i] = to_vector4<R, T>(first[i]);
#pragma unroll 1
    for (int t = 0;; t += Rows) {
#pragma unroll
        for (int u = 0; u < Rows; ++u) {
            const R factor = weight[t + u];
            for (int i = 0; i < Rows; ++i)
                for (int j = 0; j < 4; ++j) sum[i].items[j] += factor * window[(i + u) % Rows].items[j];
            if (t + u + 1 == taps) return;
            window[u] = to_vector4<R, T>(next[u % blur_rows_ahead]);
            next[u % blur_rows_ahead] = read(Rows + blur_rows_ahead + t + u);
        }
    }
}

// sum[i] += weight[t] * at[i + C * t], four taps at a time. A window of three groups of four pixels moves to the right,
// in registers; its leftmost group is at `first`, the others at (first + 1) % 3 and (first + 2) % 3. The first
// `leading` taps are there because vectors begin at a multiple of four; their weights are 0 or at most `min_weight`.
// Unless `Finite`, they are skipped: 0 times infinity is NaN.
template <bool Finite, int C, class R>
inline void filter_horizontally(const R* at, const R* weight, int leading, int taps, R (&sum)[C * blur_run]) {
    static_assert(blur_run == 8, "a window of three groups");
    Vector4<R> window[3][C];
    const Vector4<R>* from = reinterpret_cast<const Vector4<R>*>(at);
    for (int g = 0; g < 2; ++g)
        for (int i = 0; i < C; ++i) window[g][i] = from[C * g + i];
    auto filter_four_taps = [&](auto turn, int t) {
        constexpr int first = decltype(turn)::value;
        const int remaining = taps - t;
        const Vector4<R> factor = *reinterpret_cast<const Vector4<R>*>(weight + t);
        for (int i = 0; i < C; ++i) window[(first + 2) % 3][i] = from[C * (2 + t / 4) + i];
        auto tap = [&](int j) {
            for (int i = 0; i < C * blur_run; ++i) {
                const int p = C * j + i;
                sum[i] += factor.items[j] * window[(first + p / (4 * C)) % 3][p / 4 % C].items[p % 4];
            }
        };
        if (remaining >= 4 && (Finite || first > 0 || t >= leading)) {
            for (int j = 0; j < 4; ++j) tap(j);
        } else {
            for (int j = 0; j < 4; ++j)
                if ((Finite || t + j >= leading) && j < remaining) tap(j);
        }
        return remaining > 4;
    };
    for (int t = 0;
         filter_four_taps(Int<0>(), t) && filter_four_taps(Int<1>(), t + 4) && filter_four_taps(Int<2>(), t + 8);)
        t += 12;
}

}  // namespace cuaug
