#pragma once

#include "pixel.cuh"
#include "pixel_io.hpp"
#include "coordinate_tile.hpp"

// Pixels copied as bits, in units: a whole pixel if its channels are adjacent, else one channel at a time.

namespace cuaug {

constexpr int max_copy_channels = 64;

// Calls `visit` with the size of a unit; false if there is no loop for that size.
template <class Visitor>
inline bool dispatch_unit_bytes(int bytes, const Visitor& visit) {
    switch (bytes) {
        case 1:
            return visit(Int<1>()), true;
        case 2:
            return visit(Int<2>()), true;
        case 3:
            return visit(Int<3>()), true;
        case 4:
            return visit(Int<4>()), true;
        case 6:
            return visit(Int<6>()), true;
        case 8:
            return visit(Int<8>()), true;
        case 12:
            return visit(Int<12>()), true;
        case 16:
            return visit(Int<16>()), true;
        default:
            return false;
    }
}

// Input or output of a copy; strides in bytes.
template <class Pointer>
struct CopySide {
    Pointer data;
    long long row_stride, column_stride, unit_stride;
};

// Up to max_copy_channels channels of a frame, and the fill.
struct PixelCopy {
    CopySide<const char*> in;
    CopySide<char*> out;
    int unit_bytes, units;  // units of a pixel
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
        const bool whole_pixels =
            args.in.c == 1 && args.out.c == 1 && dispatch_unit_bytes(channels * static_cast<int>(size), [](auto) {});
        out.unit_bytes = whole_pixels ? channels * static_cast<int>(size) : static_cast<int>(size);
        out.units = whole_pixels ? 1 : channels;
        for (int k = 0; k < channels; ++k) {
            const T value = saturate_cast<T>(static_cast<Value>(fill_value(args.fill, n, c + k)));
            memcpy(out.fill + size * k, &value, sizeof(T));
        }
        return out;
    });
}

// The offset of pixels that get the fill.
template <class Offset>
constexpr Offset FILL_OFFSET =
    sizeof(Offset) == 4 ? static_cast<Offset>(-0x7fffffff - 1) : static_cast<Offset>(-0x7fffffffffffffff - 1);

template <int B, class Offset>
inline void gather_units(const char* __restrict__ in, const Offset* __restrict__ offset, int count,
                         char* __restrict__ out, long long step, const char* fill) {
    for (int i = 0; i < count; ++i) memcpy(out + i * step, offset[i] == FILL_OFFSET<Offset> ? fill : in + offset[i], B);
}

// Copies adjacent units in reverse order: `in` is the first to be copied and the last in memory. Memory is read in
// ascending order, for the hardware prefetcher: 11 us for an image of 224x224x3 bytes, 47 us in descending order.
template <int B>
inline void copy_reversed(const char* __restrict__ in, int count, char* __restrict__ out) {
    const char* low = in - static_cast<long long>(count - 1) * B;
    char* high = out + static_cast<long long>(count - 1) * B;
    int i = 0;
#ifdef __SSSE3__
    if constexpr (B <= 8) {
        constexpr int units = 16 / B, rest = 16 - units * B;
        alignas(16) char order[16] = {};
        for (int j = 0; j < units * B; ++j) order[rest + j] = static_cast<char>((units - 1 - j / B) * B + j % B);
        const __m128i reverse = _mm_load_si128(reinterpret_cast<const __m128i*>(order));
        // 16 bytes are read and written; the surplus belongs to the next unit, which overwrites it.
        for (; i + units + (rest > 0) <= count; i += units)
            _mm_storeu_si128(reinterpret_cast<__m128i*>(high - i * B + B - 16),
                             _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low + i * B)), reverse));
    }
#endif
    for (; i < count; ++i) memcpy(high - i * B, low + i * B, B);
}

// Copies `count` units, `in_step` and `out_step` bytes apart.
template <int B>
inline void copy_run(const char* __restrict__ in, long long in_step, int count, char* __restrict__ out,
                     long long out_step) {
    if (in_step == B && out_step == B)
        memcpy(out, in, static_cast<unsigned long>(count) * B);
    else if (in_step == -B && out_step == B)
        copy_reversed<B>(in, count, out);
    else
        for (int i = 0; i < count; ++i) memcpy(out + i * out_step, in + i * in_step, B);
}

}  // namespace cuaug
