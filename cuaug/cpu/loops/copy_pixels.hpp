#pragma once

#include "pixel.cuh"
#include "pixel_io.hpp"
#include "coordinate_tile.hpp"

// Copies pixels without conversion, in units: a unit is a whole pixel if its channels are adjacent in memory and
// dispatch_unit_bytes has a loop for their size, and one channel otherwise.

namespace cuaug {

constexpr int max_copy_channels = 64;

// Calls `visit` with the size of a unit in bytes; returns false if there is no loop for that size.
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

// The copy of up to max_copy_channels channels of a frame.
struct PixelCopy {
    CopySide<const char*> in;
    CopySide<char*> out;
    int unit_bytes, units_per_pixel;
    alignas(16) char fill[8 * max_copy_channels];  // the fill of each channel, one after the other
};

inline PixelCopy pixel_copy(native::Dtype dtype, const WarpRecordBase& args, long long n, long long t, int c) {
    const int channels = args.channels - c < max_copy_channels ? args.channels - c : max_copy_channels;
    return dispatch_dtype(dtype, [&](auto element) {
        using T = decltype(element);
        constexpr long long size = sizeof(T);
        PixelCopy copy;
        copy.in = {reinterpret_cast<const char*>(static_cast<const T*>(args.in.data) + n * args.in.n_stride +
                                                 t * args.in.t_stride + c * args.in.c_stride),
                   size * args.in.y_stride, size * args.in.x_stride, size * args.in.c_stride};
        copy.out = {reinterpret_cast<char*>(static_cast<T*>(args.out.data) + n * args.out.n_stride +
                                            t * args.out.t_stride + c * args.out.c_stride),
                    size * args.out.y_stride, size * args.out.x_stride, size * args.out.c_stride};
        const bool whole_pixels = args.in.c_stride == 1 && args.out.c_stride == 1 &&
                                  dispatch_unit_bytes(channels * static_cast<int>(size), [](auto) {});
        copy.unit_bytes = whole_pixels ? channels * static_cast<int>(size) : static_cast<int>(size);
        copy.units_per_pixel = whole_pixels ? 1 : channels;
        for (int k = 0; k < channels; ++k) {
            const T value = saturate_cast<T>(fill_value(args.fill, n, c + k));
            memcpy(copy.fill + size * k, &value, sizeof(T));
        }
        return copy;
    });
}

// The offset of a unit that gets the fill.
template <class Offset>
constexpr Offset fill_offset =
    sizeof(Offset) == 4 ? static_cast<Offset>(-0x7fffffff - 1) : static_cast<Offset>(-0x7fffffffffffffff - 1);

// Copies units of Bytes bytes: unit i comes from in + offset[i], or from `fill` if offset[i] is fill_offset, and goes
// to out + i * out_step.
template <int Bytes, class Offset>
inline void gather_units(const char* __restrict__ in, const Offset* __restrict__ offset, int count,
                         char* __restrict__ out, long long out_step, const char* fill) {
    for (int i = 0; i < count; ++i)
        memcpy(out + i * out_step, offset[i] == fill_offset<Offset> ? fill : in + offset[i], Bytes);
}

// Copies adjacent units in reverse order: `in` points to the last unit in memory, which becomes the first of `out`.
// Memory is nevertheless read in ascending order, for the hardware prefetcher: an image of 224x224x3 bytes takes 11 us,
// and 47 us in descending order.
template <int Bytes>
inline void copy_reversed(const char* __restrict__ in, int count, char* __restrict__ out) {
    const char* lowest_in = in - static_cast<long long>(count - 1) * Bytes;
    char* highest_out = out + static_cast<long long>(count - 1) * Bytes;
    int i = 0;
#ifdef __SSSE3__
    if constexpr (Bytes <= 8) {
        constexpr int units_per_vector = 16 / Bytes, unused_bytes = 16 - units_per_vector * Bytes;
        alignas(16) char order[16] = {};
        for (int j = 0; j < units_per_vector * Bytes; ++j)
            order[unused_bytes + j] = static_cast<char>((units_per_vector - 1 - j / Bytes) * Bytes + j % Bytes);
        const __m128i reverse = _mm_load_si128(reinterpret_cast<const __m128i*>(order));
        // 16 bytes are read and written; the unused ones belong to the next unit, which overwrites them.
        for (; i + units_per_vector + (unused_bytes > 0) <= count; i += units_per_vector)
            _mm_storeu_si128(
                reinterpret_cast<__m128i*>(highest_out - i * Bytes + Bytes - 16),
                _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(lowest_in + i * Bytes)), reverse));
    }
#endif
    for (; i < count; ++i) memcpy(highest_out - i * Bytes, lowest_in + i * Bytes, Bytes);
}

// Writes a unit `count` times; units of several bytes by copies of what is written already.
template <int Bytes>
inline void repeat_unit(const char* __restrict__ unit, int count, char* __restrict__ out) {
    if constexpr (Bytes == 1) {
        memset(out, *unit, static_cast<unsigned long>(count));
        return;
    }
    const long long bytes = static_cast<long long>(count) * Bytes;
    memcpy(out, unit, Bytes);
    for (long long written = Bytes; written < bytes; written *= 2)
        memcpy(out + written, out, static_cast<unsigned long>(written < bytes - written ? written : bytes - written));
}

// Copies `count` units of Bytes bytes, which are `in_step` and `out_step` bytes apart.
template <int Bytes>
inline void copy_run(const char* __restrict__ in, long long in_step, int count, char* __restrict__ out,
                     long long out_step) {
    if (in_step == Bytes && out_step == Bytes)
        memcpy(out, in, static_cast<unsigned long>(count) * Bytes);
    else if (in_step == -Bytes && out_step == Bytes)
        copy_reversed<Bytes>(in, count, out);
    else if (in_step == 0 && out_step == Bytes && count > 0)
        repeat_unit<Bytes>(in, count, out);
    else
        for (int i = 0; i < count; ++i) memcpy(out + i * out_step, in + i * in_step, Bytes);
}

}  // namespace cuaug
