#pragma once

#include "../../kernels/pixel.cuh"
#include "pixel_io.hpp"
#include "coordinate_tile.hpp"

// Pixels moved as bits, in pieces: a pixel where its channels are adjacent, else one channel after the other.

namespace cuaug {

constexpr int channels_at_once = 64;

template <int N>
struct Bytes {
    static constexpr int count = N;
};

// Calls `use` with the size of a piece; false if there is no loop for that size.
template <class Use>
inline bool with_bytes(int bytes, const Use& use) {
    switch (bytes) {
        case 1:
            return use(Bytes<1>()), true;
        case 2:
            return use(Bytes<2>()), true;
        case 3:
            return use(Bytes<3>()), true;
        case 4:
            return use(Bytes<4>()), true;
        case 6:
            return use(Bytes<6>()), true;
        case 8:
            return use(Bytes<8>()), true;
        case 12:
            return use(Bytes<12>()), true;
        case 16:
            return use(Bytes<16>()), true;
        default:
            return false;
    }
}

// One side of a move. Strides in bytes.
template <class Pointer>
struct Side {
    Pointer data;
    long long row, column, piece;
};

// Some channels of a frame on their way, and the fill that stands where there is no pixel.
struct Moves {
    Side<const char*> in;
    Side<char*> out;
    int bytes, pieces;  // of a piece, and how many make a pixel
    alignas(16) char fill[8 * channels_at_once];
};

inline Moves moves_of(native::Dtype dtype, const AnyWarp& args, long long n, long long t, int c) {
    const int channels = args.channels - c < channels_at_once ? args.channels - c : channels_at_once;
    return with_dtype(dtype, [&](auto element) {
        using T = decltype(element);
        using Value = typename Select<sizeof(T) == 8 || Same<T, int32>::value, double, float>::type;
        constexpr long long size = sizeof(T);
        Moves out;
        out.in = {reinterpret_cast<const char*>(static_cast<const T*>(args.in.data) + n * args.in.n + t * args.in.t +
                                                c * args.in.c),
                  size * args.in.y, size * args.in.x, size * args.in.c};
        out.out = {
            reinterpret_cast<char*>(static_cast<T*>(args.out.data) + n * args.out.n + t * args.out.t + c * args.out.c),
            size * args.out.y, size * args.out.x, size * args.out.c};
        const bool whole =
            args.in.c == 1 && args.out.c == 1 && with_bytes(channels * static_cast<int>(size), [](auto) {});
        out.bytes = whole ? channels * static_cast<int>(size) : static_cast<int>(size);
        out.pieces = whole ? 1 : channels;
        for (int k = 0; k < channels; ++k) {
            const T value = from_real<T>(static_cast<Value>(fill_value(args.fill, n, c + k)));
            memcpy(out.fill + size * k, &value, sizeof(T));
        }
        return out;
    });
}

// An offset that stands for the fill.
template <class Offset>
constexpr Offset nowhere =
    sizeof(Offset) == 4 ? static_cast<Offset>(-0x7fffffff - 1) : static_cast<Offset>(-0x7fffffffffffffff - 1);

template <int B, class Offset>
inline void gather(const char* __restrict__ from, const Offset* __restrict__ offset, int count, char* __restrict__ to,
                   long long step, const char* fill) {
    for (int i = 0; i < count; ++i) memcpy(to + i * step, offset[i] == nowhere<Offset> ? fill : from + offset[i], B);
}

// Adjacent pieces, backwards: `from` is the first to be copied and the last in memory. Memory is read in ascending
// order, which the processor sees coming: 11 us for an image of 224x224x3 bytes, against 47 in the other.
template <int B>
inline void copy_back(const char* __restrict__ from, int count, char* __restrict__ to) {
    const char* low = from - static_cast<long long>(count - 1) * B;
    char* high = to + static_cast<long long>(count - 1) * B;
    int i = 0;
#ifdef __SSSE3__
    if constexpr (B <= 8) {
        constexpr int pieces = 16 / B, rest = 16 - pieces * B;
        alignas(16) char order[16] = {};
        for (int j = 0; j < pieces * B; ++j) order[rest + j] = static_cast<char>((pieces - 1 - j / B) * B + j % B);
        const __m128i reverse = _mm_load_si128(reinterpret_cast<const __m128i*>(order));
        // 16 bytes are read and written; those that are too many belong to the next piece.
        for (; i + pieces + (rest > 0) <= count; i += pieces)
            _mm_storeu_si128(reinterpret_cast<__m128i*>(high - i * B + B - 16),
                             _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low + i * B)), reverse));
    }
#endif
    for (; i < count; ++i) memcpy(high - i * B, low + i * B, B);
}

// `count` pieces, each a step from the one before.
template <int B>
inline void copy_run(const char* __restrict__ from, long long from_step, int count, char* __restrict__ to,
                     long long to_step) {
    if (from_step == B && to_step == B)
        memcpy(to, from, static_cast<unsigned long>(count) * B);
    else if (from_step == -B && to_step == B)
        copy_back<B>(from, count, to);
    else
        for (int i = 0; i < count; ++i) memcpy(to + i * to_step, from + i * from_step, B);
}

}  // namespace cuaug
