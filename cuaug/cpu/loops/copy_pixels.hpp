#pragma once

#include "pixel.cuh"
#include "pixel_io.hpp"
#include "coordinate_tile.hpp"

// Pixels moved as bits, in pieces: a pixel where its channels are adjacent, else one channel after the other.

namespace cuaug {

constexpr int max_copy_channels = 64;

template <int N>
struct Bytes {
    static constexpr int count = N;
};

// Calls `use` with the size of a piece; false if there is no loop for that size.
template <class Visitor>
inline bool dispatch_unit_bytes(int bytes, const Visitor& visit) {
    switch (bytes) {
        case 1:
            return visit(Bytes<1>()), true;
        case 2:
            return visit(Bytes<2>()), true;
        case 3:
            return visit(Bytes<3>()), true;
        case 4:
            return visit(Bytes<4>()), true;
        case 6:
            return visit(Bytes<6>()), true;
        case 8:
            return visit(Bytes<8>()), true;
        case 12:
            return visit(Bytes<12>()), true;
        case 16:
            return visit(Bytes<16>()), true;
        default:
            return false;
    }
}

// One side of a move. Strides in bytes.
template <class Pointer>
struct CopySide {
    Pointer data;
    long long row, column, piece;
};

// Some channels of a frame on their way, and the fill that stands where there is no pixel.
struct PixelCopy {
    CopySide<const char*> in;
    CopySide<char*> out;
    int bytes, pieces;  // of a piece, and how many make a pixel
    alignas(16) char fill[8 * max_copy_channels];
};

inline PixelCopy pixel_copy(native::Dtype dtype, const WarpCommon& args, long long n, long long t, int c) {
    const int channels = args.channels - c < max_copy_channels ? args.channels - c : max_copy_channels;
    return dispatch_dtype(dtype, [&](auto element) {
        using T = decltype(element);
        using Value = conditional_t<sizeof(T) == 8 || is_same_v<T, int32>, double, float>;
        constexpr long long size = sizeof(T);
        PixelCopy out;
        out.in = {reinterpret_cast<const char*>(static_cast<const T*>(args.in.data) + n * args.in.n + t * args.in.t +
                                                c * args.in.c),
                  size * args.in.y, size * args.in.x, size * args.in.c};
        out.out = {
            reinterpret_cast<char*>(static_cast<T*>(args.out.data) + n * args.out.n + t * args.out.t + c * args.out.c),
            size * args.out.y, size * args.out.x, size * args.out.c};
        const bool whole =
            args.in.c == 1 && args.out.c == 1 && dispatch_unit_bytes(channels * static_cast<int>(size), [](auto) {});
        out.bytes = whole ? channels * static_cast<int>(size) : static_cast<int>(size);
        out.pieces = whole ? 1 : channels;
        for (int k = 0; k < channels; ++k) {
            const T value = saturate_cast<T>(static_cast<Value>(fill_value(args.fill, n, c + k)));
            memcpy(out.fill + size * k, &value, sizeof(T));
        }
        return out;
    });
}

// An offset that stands for the fill.
template <class Offset>
constexpr Offset FILL_OFFSET =
    sizeof(Offset) == 4 ? static_cast<Offset>(-0x7fffffff - 1) : static_cast<Offset>(-0x7fffffffffffffff - 1);

template <int B, class Offset>
inline void gather_units(const char* __restrict__ from, const Offset* __restrict__ offset, int count,
                         char* __restrict__ to, long long step, const char* fill) {
    for (int i = 0; i < count; ++i)
        memcpy(to + i * step, offset[i] == FILL_OFFSET<Offset> ? fill : from + offset[i], B);
}

// Adjacent pieces, backwards: `from` is the first to be copied and the last in memory. Memory is read in ascending
// order, which the processor sees coming: 11 us for an image of 224x224x3 bytes, against 47 in the other.
template <int B>
inline void copy_reversed(const char* __restrict__ from, int count, char* __restrict__ to) {
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
        copy_reversed<B>(from, count, to);
    else
        for (int i = 0; i < count; ++i) memcpy(to + i * to_step, from + i * from_step, B);
}

}  // namespace cuaug
