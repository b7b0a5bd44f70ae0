#pragma once

#include "gpu/stage.cuh"
#include "ops/blend_sharpness.cuh"
#include "samplers/antialiased.cuh"

namespace cuaug {

// Reads as `Sampler`; or, of samples that stay where they are, the pixel sharpened, or what the level of each channel
// becomes.
template <class Sampler>
struct Retouched {
    static constexpr int before = Sampler::before, after = Sampler::after;
};

template <class Sampler>
struct Plain<Retouched<Sampler>> {
    using type = Sampler;
};

template <class Sampler>
constexpr bool retouches = false;
template <class Sampler>
constexpr bool retouches<Retouched<Sampler>> = true;

// Of a block's sample, in shared memory: the factor, and the table of levels.
template <class T, int K>
struct alignas(16) Retouching {
    ComputeType<T> sharpness;  // 1: it is not sharpened
    int relevelled;
    int now;  // whether the tile at hand is retouched
    unsigned char level[sizeof(T) == 1 ? K : 1][256];

    bool any() const { return sharpness != ComputeType<T>(1) || relevelled; }
};

// Reads them for K channels from `first` on. `count` threads call it together; this is thread `i` of them.
template <class T, int K>
inline void read_retouching(const Retouch& args, long long n, int first, int channels, int i, int count,
                            Retouching<T, K>& out) {
    if (i == 0) {
        out.sharpness = args.sharpness.data != nullptr ? static_cast<ComputeType<T>>(entry(args.sharpness, n, 0)) : ComputeType<T>(1);
        out.relevelled = args.relevelling.data != nullptr && entry(args.relevelling, n, 0) != 0.0;
    }
    if constexpr (sizeof(T) == 1)
        for (int word = i; word < 64 * K && args.levels != nullptr; word += count) {
            const int c = first + word / 64;
            const Word* from =
                reinterpret_cast<const Word*>(args.levels + (n * channels + (c < channels ? c : channels - 1)) * 256);
            reinterpret_cast<Word*>(out.level[word / 64])[word % 64] = from[word % 64];
        }
}

// Over the 3 x 3 pixels around (x, y).
template <class T, int K>
inline Pixel<ComputeType<T>, K> sum_of_nine(const Staged<T, K>& pixels, int x, int y) {
    Pixel<ComputeType<T>, K> out = {};
    if constexpr (sizeof(T) == 1) {
        Word even = 0, odd = 0;  // channels 0 and 2, 1 and 3: two sums in a word
        for (int i = 0; i < 9; ++i) {
            const Word four = pixels.stored(x + i % 3 - 1, y + i / 3 - 1).word[0];
            even += __byte_perm(four, 0, 0x4240);
            odd += __byte_perm(four, 0, 0x4341);
        }
        // As bytes.cuh makes numbers of bytes.
        for (int k = 0; k < K; ++k)
            out.c[k] =
                __uint_as_float(__byte_perm(k % 2 ? odd : even, 0x4B000000, k / 2 ? 0x7632 : 0x7610)) - 8388608.0f;
    } else {
        for (int i = 0; i < 9; ++i) out = out + pixels.pixel(x + i % 3 - 1, y + i / 3 - 1);
    }
    return out;
}

// The pixel at (x, y) of a staged box, which holds its neighbours. `inside`: it is not of the image's border.
template <class T, int K>
inline Stored<T, K> retouched(const Retouching<T, K>& by, const Staged<T, K>& pixels, int x, int y, bool inside) {
    using R = ComputeType<T>;
    const Stored<T, K> own = pixels.stored(x, y);
    if (by.relevelled) {
        RawPixel<T, K> out = to_raw_pixel(own);
        if constexpr (sizeof(T) == 1)
            for (int k = 0; k < K; ++k) out.c[k] = by.level[k][out.c[k]];
        return to_stored(out);
    }
    const Pixel<R, K> in = unpacked<R>(own), nine = sum_of_nine(pixels, x, y);
    Pixel<R, K> out;
    for (int k = 0; k < K; ++k) out.c[k] = sharpened(inside, in.c[k], nine.c[k], by.sharpness, R(max_value<T>));
    return packed<T>(out);
}

}  // namespace cuaug
