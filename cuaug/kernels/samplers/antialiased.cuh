#pragma once

#include "geometry/tile_map.cuh"
#include "gpu/word_pixel.cuh"
#include "samplers/image.cuh"
#include "ops/color.cuh"
#include "samplers/bilinear.cuh"
#include "samplers/bilinear_u8.cuh"

namespace cuaug {

// Pillow's triangle filter, which reaches one output pixel to either side, for axis-aligned maps that reduce at most
// twofold, so that four taps per axis suffice. Taps outside the window do not count. Where nothing is reduced this is
// `Bilinear` with the edge border.
struct Antialiased {
    static constexpr int taps_before = 1, taps_after = 2;
};

// The sampler of those samples of a batch that Antialiased need not reduce, or that have no override of SampleOverride.
template <class Sampler>
struct BaseSampler {
    using type = Sampler;
};
template <>
struct BaseSampler<Antialiased> {
    using type = Bilinear;
};
template <class Sampler>
using base_sampler_t = typename BaseSampler<Sampler>::type;

// One axis. `step`: size of an input pixel in output pixels, at most 1. The outer two taps are dropped outside
// [low, high). The inner two always count. On a reduced axis they lie inside: the centre of the first output pixel is
// half an output pixel from the edge, which is more than half an input pixel. On an axis that is not reduced, the
// border repeats the edge.
template <class R>
struct AxisFilter {
    R step, low, high;

    // Weights of the taps -1 .. 2 around the whole part of a coordinate. Returns the factor that makes their sum 1.
    R weights(R whole, R fraction, R* w) const {
        w[0] = whole - R(1) >= low ? fma_saturate(-fraction, step, R(1) - step) : R(0);
        w[1] = R(1) - fraction * step;
        w[2] = fraction * step + (R(1) - step);
        w[3] = whole + R(2) < high ? fma_saturate(fraction, step, R(1) - R(2) * step) : R(0);
        return reciprocal((w[0] + w[3]) + (R(2) - step));
    }
};

template <class R>
struct AxisFilters {
    AxisFilter<R> x, y;
};

template <class TileMap>
inline bool is_downscaling(const TileMap& map) {
    if constexpr (TileMap::is_affine)
        return fabs(map.a) > 1 || fabs(map.e) > 1;
    else
        return false;
}

// The filters of both axes of an affine map, in its coordinates, which are relative to (base_x, base_y).
template <class R, class TileMap>
inline AxisFilters<R> axis_filters(const TileMap& map, const ImageWindow& window) {
    auto axis_filter = [](R scale, int from, int length) {
        return AxisFilter<R>{R(1) / fmax(fabs(scale), R(1)), static_cast<R>(from), static_cast<R>(from + length)};
    };
    if constexpr (TileMap::is_affine)
        return {axis_filter(map.a, window.left - map.base_x, window.width),
                axis_filter(map.e, window.top - map.base_y, window.height)};
    else
        return {};
}

// The pixel at p, from a staged box.
template <class R, class Image>
inline auto antialiased(const Image& image, const Point<R>& p, const AxisFilters<R>& filters) {
    R fx, fy, wx[4], wy[4];
    const int x = image.split_floor(p.x, fx) - 1, y = image.split_floor(p.y, fy) - 1;
    const R scale = filters.x.weights(p.x - fx, fx, wx) * filters.y.weights(p.y - fy, fy, wy);
    auto row = [&](int j) {
        auto sum = wx[0] * image.pixel(x, y + j);
        for (int i = 1; i < 4; ++i) sum = sum + wx[i] * image.pixel(x + i, y + j);
        return (scale * wy[j]) * sum;
    };
    auto sum = row(1) + row(2);
    if (wy[0] > R(0)) sum = sum + row(0);
    if (wy[3] > R(0)) sum = sum + row(3);
    return sum;
}

// The same for uint8: the four taps of a row in two __dp2a per channel, with weights in units of 2^-15; rows are summed
// in float.
template <int K>
inline BiasedU8<K> antialiased(const WordPixel<uint8, K>* pixels, int pitch, const Point<float>& p,
                               const AxisFilters<float>& filters) {
    // For x >= 0, 2 + x 2^-22 rounded down has the bits 0x40000000 + floor(x). Times the 4 bytes of a pixel, or
    // the bytes of a row, 0x40000000 is a multiple of 2^32 and has no effect.
    constexpr float ulp = 1.0f / 4194304.0f, bias = 8388608.0f;
    constexpr Word bias_bits = 0x4B000000;
    const float tx = __fmaf_rd(p.x, ulp, 2.0f), ty = __fmaf_rd(p.y, ulp, 2.0f), whole_x = (tx - 2.0f) / ulp,
                whole_y = (ty - 2.0f) / ulp;
    float wx[4], wy[4], sum[K] = {};
    const float x_factor = 32768.0f * filters.x.weights(whole_x, p.x - whole_x, wx),
                y_factor = filters.y.weights(whole_y, p.y - whole_y, wy);
    auto weight_bits = [&](int i) { return __float_as_uint(__fmaf_rn(wx[i], x_factor, bias)); };
    const Word left_weights = __byte_perm(weight_bits(0), weight_bits(1), 0x5410),
               right_weights = __byte_perm(weight_bits(2), weight_bits(3), 0x5410);
    const Word row_bytes = 4 * pitch,
               corner = __float_as_uint(ty) * row_bytes +
                        (4 * __float_as_uint(tx) + static_cast<Word>(__cvta_generic_to_shared(pixels)) - row_bytes - 4);
    auto row = [&](int j) {
        const float weight = y_factor * wy[j];
        Word tap[4];
        for (int i = 0; i < 4; ++i)
            tap[i] = *static_cast<const Word*>(__cvta_shared_to_generic(corner + j * row_bytes + 4 * i));
        // A sum is added to the bits of the bias, in its mantissa; because the rows' weights sum to 1, the bias remains
        // in the total once.
        auto add = [&](int k, Word taps) {
            sum[k] +=
                weight * __uint_as_float(__dp2a_lo(left_weights, taps, __dp2a_hi(right_weights, taps, bias_bits)));
        };
        const Word rg = __byte_perm(tap[0], tap[1], low_bytes), rg2 = __byte_perm(tap[2], tap[3], low_bytes);
        add(0, __byte_perm(rg, rg2, 0x5410));
        if constexpr (K > 1) add(1, __byte_perm(rg, rg2, 0x7632));
        if constexpr (K > 2) {
            const Word ba = __byte_perm(tap[0], tap[1], high_bytes), ba2 = __byte_perm(tap[2], tap[3], high_bytes);
            add(2, __byte_perm(ba, ba2, 0x5410));
            if constexpr (K > 3) add(3, __byte_perm(ba, ba2, 0x7632));
        }
    };
    row(1);
    row(2);
    if (wy[0] > 0.0f) row(0);
    if (wy[3] > 0.0f) row(3);
    BiasedU8<K> out;
    for (int k = 0; k < K; ++k) out.c[k] = (sum[k] - bias) * (level_unit / 32768.0f) + level_bias;
    return out;
}

}  // namespace cuaug
