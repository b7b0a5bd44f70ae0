#pragma once

#include "gpu/stage.cuh"
#include "ops/blend_sharpness.cuh"
#include "samplers/antialiased.cuh"

namespace cuaug {

// Samples like `Sampler`; a batch sample whose geometry is the identity may instead be sharpened, or mapped through a
// lookup table per channel.
template <class Sampler>
struct SampleOverride {
    static constexpr int taps_before = Sampler::taps_before, taps_after = Sampler::taps_after;
};

template <class Sampler>
struct BaseSampler<SampleOverride<Sampler>> {
    using type = Sampler;
};

template <class Sampler>
constexpr bool has_override = false;
template <class Sampler>
constexpr bool has_override<SampleOverride<Sampler>> = true;

// The override of a block's sample, in shared memory.
template <class T, int K>
struct alignas(16) BlockOverride {
    ComputeType<T> sharpness;  // 1: not sharpened
    int uses_lut;
    int applies_to_tile;  // whether the current tile is sampled with the override
    int identity_rows;    // rows of the region where the map is the identity: all or 0. Copied unless sharpened
    unsigned char lut[sizeof(T) == 1 ? K : 1][256];

    bool sharpens() const { return sharpness != ComputeType<T>(1); }
    bool is_active() const { return sharpens() || uses_lut; }

    WordPixel<T, K> looked_up(const WordPixel<T, K>& pixel) const {
        RawPixel<T, K> out = to_raw_pixel(pixel);
        if constexpr (sizeof(T) == 1)
            for (int k = 0; k < K; ++k) out.c[k] = lut[k][out.c[k]];
        return to_word_pixel(out);
    }
};

// Reads the override for K channels from `first_channel` on. Called by `count` threads together; this is thread `i` of
// them.
template <class T, int K>
inline void read_override(const SampleOverrideRecord& args, long long n, int first_channel, int channels, int i,
                          int count, BlockOverride<T, K>& out) {
    if (i == 0) {
        out.sharpness = args.sharpness.data != nullptr ? static_cast<ComputeType<T>>(entry(args.sharpness, n, 0))
                                                       : ComputeType<T>(1);
        out.uses_lut = args.uses_lut.data != nullptr && entry(args.uses_lut, n, 0) != 0.0;
    }
    if constexpr (sizeof(T) == 1)
        for (int word = i; word < 64 * K && args.lut != nullptr; word += count) {
            const int c = first_channel + word / 64;
            const Word* from =
                reinterpret_cast<const Word*>(args.lut + (n * channels + (c < channels ? c : channels - 1)) * 256);
            reinterpret_cast<Word*>(out.lut[word / 64])[word % 64] = from[word % 64];
        }
}

// The sum of the 3 x 3 pixels around (x, y).
template <class T, int K>
inline Pixel<ComputeType<T>, K> sum_3x3(const StagedBox<T, K>& pixels, int x, int y) {
    Pixel<ComputeType<T>, K> out = {};
    if constexpr (sizeof(T) == 1) {
        Word even = 0, odd = 0;  // channels 0 and 2, 1 and 3: two sums per word
        for (int i = 0; i < 9; ++i) {
            const Word four = pixels.word_pixel(x + i % 3 - 1, y + i / 3 - 1).word[0];
            even += __byte_perm(four, 0, 0x4240);
            odd += __byte_perm(four, 0, 0x4341);
        }
        // The bits of 2^23 + n are those of 2^23 with n in the lower half.
        for (int k = 0; k < K; ++k)
            out.c[k] =
                __uint_as_float(__byte_perm(k % 2 ? odd : even, 0x4B000000, k / 2 ? 0x7632 : 0x7610)) - 8388608.0f;
    } else {
        for (int i = 0; i < 9; ++i) out = out + pixels.pixel(x + i % 3 - 1, y + i / 3 - 1);
    }
    return out;
}

// The pixel at (x, y) of a staged box that holds the pixel's neighbours too. `is_interior`: the pixel is not on the
// edge of the image.
template <class T, int K>
inline WordPixel<T, K> override_pixel(const BlockOverride<T, K>& block_override, const StagedBox<T, K>& pixels, int x,
                                      int y, bool is_interior) {
    using R = ComputeType<T>;
    const WordPixel<T, K> center = pixels.word_pixel(x, y);
    if (block_override.uses_lut) return block_override.looked_up(center);
    const Pixel<R, K> in = to_pixel<R>(center), sum = sum_3x3(pixels, x, y);
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k)
        out.c[k] = blend_sharpness(is_interior, in.c[k], sum.c[k], block_override.sharpness, R(max_value<T>));
    return saturate_pack<T>(out);
}

}  // namespace cuaug
