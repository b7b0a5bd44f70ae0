#pragma once

#include "samplers/image.cuh"
#include "samplers/bilinear_u8.cuh"

// Bilinear interpolation from global memory, at any points: all four pixels are loaded before one is used.

namespace cuaug {

// Each byte is held in a word. If it were held in a byte, the compiler would mask it after the load.
template <class T, int K>
struct Neighbours {
    using Element = conditional_t<sizeof(T) == 1, Word, T>;
    RawPixel<Element, K> upper[2], lower[2];
};

// Reads all four pixels, then replaces those outside the image by the fill. Returns false, with nothing read, if all
// four are outside. `Offset`, the type of byte offsets within a channel: Word if no offset is negative and all fit, or
// long long.
template <class Offset, class T, int K, class Border>
inline bool read_neighbours(const Image<T, K, Border>& image, int x, int y, Neighbours<T, K>& out) {
    const int column[] = {image.column_of(x), image.column_of(x + 1)}, row[] = {image.row_of(y), image.row_of(y + 1)};
    constexpr bool fills = is_fill_border<Border>;
    if (fills && ((column[0] & column[1]) < 0 || (row[0] & row[1]) < 0)) return false;
    auto clamped = [](int i) { return static_cast<Offset>(fills ? max(i, 0) : i); };
    auto read = [&](int y, auto& pair) {
        for (int i = 0; i < 2; ++i) {
            const Offset byte_offset = sizeof(T) * (clamped(y) * image.y_stride + clamped(column[i]) * image.x_stride);
            for (int k = 0; k < K; ++k)
                pair[i].c[k] = *reinterpret_cast<const T*>(
                    reinterpret_cast<const unsigned char*>(image.data + image.offset[k]) + byte_offset);
        }
    };
    read(row[0], out.upper);
    read(row[1], out.lower);
    if (fills && (column[0] | column[1] | row[0] | row[1]) < 0)
        for (int i = 0; i < 2; ++i)
            for (int k = 0; k < K; ++k) {
                if (column[i] < 0 || row[0] < 0) out.upper[i].c[k] = image.fill.c[k];
                if (column[i] < 0 || row[1] < 0) out.lower[i].c[k] = image.fill.c[k];
            }
    return true;
}

// `uses_integer_weights`: for uint8 only.
template <bool uses_integer_weights, class Offset, class T, int K, class Border>
inline auto sample_global(const Image<T, K, Border>& image, const Point<float>& p) {
    float fx, fy;
    const bool is_valid = image.is_in_range(p);
    const int x = split_floor(p.x, fx), y = split_floor(p.y, fy);
    Neighbours<T, K> neighbours;
    const bool touches_image = is_valid && read_neighbours<Offset>(image, x, y, neighbours);
    if constexpr (uses_integer_weights) {
        if (!touches_image) return to_biased(image.fill);
        auto to_16_bits = [](float fraction) { return min(static_cast<Word>(fraction * 65536.0f + 0.5f), 65535u); };
        return weighted_taps<K>(to_16_bits(fx), to_16_bits(fy), [&](int k, int right, int below) {
            return (below ? neighbours.lower : neighbours.upper)[right].c[k];
        });
    } else {
        auto pixel = [](const auto& raw_pixel) { return to_pixel<float>(raw_pixel); };
        if (!touches_image) return pixel(image.fill);
        const float gx = 1.0f - fx, gy = 1.0f - fy;
        return (gy * gx) * pixel(neighbours.upper[0]) + (gy * fx) * pixel(neighbours.upper[1]) +
               (fy * gx) * pixel(neighbours.lower[0]) + (fy * fx) * pixel(neighbours.lower[1]);
    }
}

}  // namespace cuaug
