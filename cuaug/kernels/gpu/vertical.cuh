#pragma once

#include "../filter.cuh"
#include "../record.cuh"
#include "words.cuh"

// The vertical half of a resize: a warp makes four rows, of any number of columns. It comes first because there its weights are the
// same for all lanes and its loads are whole words of adjacent elements, whatever they are: planes and pixels are alike.

namespace cuaug {

constexpr int rows_at_once = 4, entries_at_once = 8;

// Four rows of one column.
template <class R> struct alignas(16) Column { R row[rows_at_once]; };

// One source row of an output row; of bytes two rows, with weights of 16 bits for __dp2a.
template <class T>
struct Entry {
    static constexpr int taps = 1;
    Real<T> weight;
    int row;
};
template <>
struct alignas(16) Entry<uint8> {
    static constexpr int taps = 2;
    Word weights;
    int row[2];
};

template <class T> using Entries = Entry<T>[entries_at_once][rows_at_once];

// K channels of a frame, and what lies outside. In shared memory: once a block, and out of the way of registers.
template <class T, int K>
struct Source {
    const T* channel[K];
    Texel<T, K> fill;
    int y_stride, x_stride;
    int height, width;
};

// Taps `i` and on as an entry, and what their weights sum to. A filter is at most 1, so that its values are integers up to `one`
// and the result is divided by their sum: then a constant stays that constant, and 99.9 % of noise comes out as from exact
// weights. `one` keeps the sum of 1.4 * widen * one * 255 in 32 bits.
template <class T, class R>
struct Weighed {
    Entry<T> entry;
    R sum;
};

template <class T, class Filter, class R>
inline Weighed<T, R> weigh(const Taps<R>& taps, int i) {
    const int last = taps.count - 1;
    if constexpr (Same<T, uint8>::value) {
        const float one = 32767.0f * fminf(1.0f, 128.0f * taps.shrink);
        const int above = __float2int_rn(one * weight<Filter>(taps, i)), below = __float2int_rn(one * weight<Filter>(taps, i + 1));
        const int a = i <= last ? above : 0, b = i < last ? below : 0;
        return {{__byte_perm(a, b, 0x5410), {taps.index(min(i, last)), taps.index(min(i + 1, last))}}, static_cast<R>(a + b)};
    } else {
        const R value = weight<Filter>(taps, i), used = i <= last ? value : R(0);
        return {{used, taps.index(min(i, last))}, used};
    }
}

// `row` rows further down. The compiler multiplies 64-bit numbers here if it knows that the stride was one.
template <class T>
inline const T* row_of(const T* at, int row, int stride) {
    if constexpr (sizeof(T) > 1) {
        return at + static_cast<long long>(row) * stride;
    } else {
        const T* out;
        asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(out) : "r"(row), "r"(stride), "l"(at));
        return out;
    }
}

// Fills the table with taps from `i` on of the warp's rows: a lane an entry. Returns what the lane's weights sum to, and clears
// `inside` if a row is not one of the image.
template <class Filter, class T, class R>
inline R fill_entries(const Taps<R>* down, int i, int lane, int height, Entries<T>& entries, bool& inside) {
    const Weighed<T, R> made = weigh<T, Filter>(down[lane % rows_at_once], i + lane / rows_at_once * Entry<T>::taps);
    entries[lane / rows_at_once][lane % rows_at_once] = made.entry;
    if constexpr (Same<T, uint8>::value) inside = inside && made.entry.row[0] >= 0 && made.entry.row[1] < height;
    else inside = inside && made.entry.row >= 0 && made.entry.row < height;
    return made.sum;
}

__device__ inline Word dot_low(Word weights, Word bytes, Word sum) {
    asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(weights), "r"(bytes));
    return sum;
}

__device__ inline Word dot_high(Word weights, Word bytes, Word sum) {
    asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(weights), "r"(bytes));
    return sum;
}

template <class T> struct SumOf { using type = Real<T>; };
template <> struct SumOf<uint8> { using type = int; };
template <class T, int Width> using SumsDown = typename SumOf<T>::type[Width][rows_at_once];

// Width adjacent elements of a source row, of which those of narrow types travel in words.
template <class T, int Width> struct Elements { T of[1]; };
template <class T> struct Elements<T, 4> : FourElements<T> {};

// Adds to the sums of Width adjacent elements what `count` entries give; `load(row)` is those elements of a source row.
template <class T, int Width, class Load>
inline void add_rows(const Entries<T>& entries, int count, const Load& load, SumsDown<T, Width>& sum) {
    #pragma unroll 1
    for (int i = 0; i < count; ++i) {
        for (int r = 0; r < rows_at_once; ++r) {
            const Entry<T> entry = entries[i][r];
            if constexpr (Same<T, uint8>::value && Width == 4) {
                const Word above = load(entry.row[0]).word[0], below = load(entry.row[1]).word[0];
                const Word left = __byte_perm(above, below, 0x5140), right = __byte_perm(above, below, 0x7362);
                sum[0][r] = dot_low(entry.weights, left, sum[0][r]);
                sum[1][r] = dot_high(entry.weights, left, sum[1][r]);
                sum[2][r] = dot_low(entry.weights, right, sum[2][r]);
                sum[3][r] = dot_high(entry.weights, right, sum[3][r]);
            } else if constexpr (Same<T, uint8>::value) {
                sum[0][r] = dot_low(entry.weights, __byte_perm(load(entry.row[0]).of[0], load(entry.row[1]).of[0], 0x5140), sum[0][r]);
            } else if (entry.weight != Real<T>(0)) {  // else no tap: what stands there may be infinite
                const Elements<T, Width> from = load(entry.row);
                for (int j = 0; j < Width; ++j) {
                    T value;
                    memcpy(&value, reinterpret_cast<const T*>(&from) + j, sizeof(T));
                    sum[j][r] += entry.weight * to_real<Real<T>>(value);
                }
            }
        }
    }
}

// Slots are padded so that lanes four apart store to different banks.
inline int slot(int i) { return i + (i >> 3); }

template <class Layout, int K> constexpr bool in_planes = !Same<Layout, Packed>::value || K == 1;

// Where channel k of column x stands, of a strip of Columns columns.
template <class Layout, int K, int Columns>
inline int slot_of(int x, int k) { return in_planes<Layout, K> ? slot(x) + k * slot(Columns) : slot(x * K + k); }

// Asks for the source rows of the warp's next rows, columns [begin, end): their first use waits for memory else, 4.5 of 10 cycles.
template <class Layout, int K, class T, class R>
inline void prefetch(const Source<T, K>& source, const Taps<R>* down, int begin, int end, int lane) {
    if constexpr (!Same<Layout, Strided>::value) {
        constexpr int planes = in_planes<Layout, K> ? K : 1, each = in_planes<Layout, K> ? 1 : K, sectors = planes > 1 && sizeof(T) == 1 ? 2 : 4;
        const int last = min(down[rows_at_once - 1].index(down[rows_at_once - 1].count - 1), source.height - 1);
        const int from = max(begin, 0) * each, to = min(end, source.width) * each;
        for (int row = max(down[0].index(0), 0) + lane / sectors; row <= last; row += 32 / sectors)
            for (int x = from + lane % sectors * (64 / static_cast<int>(sizeof(T))); x < to; x += sectors * 64 / sizeof(T))
                for (int k = 0; k < planes; ++k) asm volatile("prefetch.global.L2 [%0];" : : "l"(row_of(source.channel[k] + x, row, source.y_stride)));
    }
}

// A strip in the making: `width` elements of each of `planes` source rows, from element `left` on, of which those in
// [vectors, vectors_end) can be read in vectors.
struct Strip {
    int planes, left, width, vectors, vectors_end;
};

// The elements of a strip that are read in vectors (Width 4), or all others (1).
template <int Width, class Filter, class Layout, int Columns, int K, class T, class R>
inline void filter_elements(const Source<T, K>& source, const Taps<R>* down, int count, const Strip& strip, int lane, Entries<T>& entries,
                            Column<R>* out) {
    constexpr bool planes = in_planes<Layout, K>;
    const int before = strip.vectors - strip.left, vectors = strip.vectors_end - strip.vectors;
    const int across = Width == 4 ? vectors / 4 : strip.width - vectors, chunks = strip.planes * across;
    #pragma unroll 1
    for (int base = 0; base < chunks; base += 32) {
        const int chunk = min(base + lane, chunks - 1);  // lanes left over repeat the last one
        int k = 0, place = chunk;
        if (planes)
            for (int i = 1; i < K; ++i)
                if (chunk >= i * across) k = i, place = chunk - i * across;
        const int x = Width == 4 ? before + 4 * place : place < before ? place : place + vectors;  // from the strip's first element
        const int channel = planes ? k : x % K, column = planes ? strip.left + x : strip.left / K + x / K;
        const T* at = Width == 4 && !planes ? source.channel[0] + (strip.left + x)
                                            : source.channel[channel] + static_cast<long long>(column) * column_stride<Layout, K>(source.x_stride);
        __builtin_assume(__isGlobal(at));

        SumsDown<T, Width> sum = {};
        bool ignored = true;
        for (int i = 0; i < count; i += entries_at_once) {
            if (count > entries_at_once) {
                __syncwarp();
                fill_entries<Filter, T>(down, i * Entry<T>::taps, lane, source.height, entries, ignored);
                __syncwarp();
            }
            add_rows<T, Width>(entries, min(entries_at_once, count - i), [&](int row) {
                const T* from = row_of(at, row, source.y_stride);
                __builtin_assume(__isGlobal(from));
                if constexpr (Width == 4) {
                    return *reinterpret_cast<const Elements<T, 4>*>(from);
                } else {
                    const bool is_inside = column >= 0 && column < source.width && row >= 0 && row < source.height;
                    return Elements<T, 1>{is_inside ? *from : source.fill.c[channel]};
                }
            }, sum);
        }
        Column<R>* to = out + slot(x) + k * slot(Columns);
        for (int j = 0; j < Width; ++j) {
            Column<R> column;
            for (int r = 0; r < rows_at_once; ++r) column.row[r] = static_cast<R>(sum[j][r]);
            to[j] = column;
        }
    }
}

// A strip of `width` columns from `left`, a multiple of 4, made by a warp into `out`. `vector`: rows can be read in vectors.
template <class Filter, class Layout, int Columns, int K, class T, class R>
inline void filter_down(const Source<T, K>& source, const Taps<R>* down, int count, bool vector, int left, int width, int lane,
                        Entries<T>& entries, Column<R>* out) {
    constexpr int each = in_planes<Layout, K> ? 1 : K;
    const int begin = left * each, end = begin + width * each;
    Strip strip = {in_planes<Layout, K> ? K : 1, begin, end - begin, begin, begin};
    if (!Same<Layout, Strided>::value && vector) {
        strip.vectors = min(max(begin, 0), end);
        strip.vectors_end = max(strip.vectors, min(begin + ((end - begin + 3) & ~3), source.width * each & ~3));
        filter_elements<4, Filter, Layout, Columns, K>(source, down, count, strip, lane, entries, out);
        if (strip.vectors_end > end) strip.width = strip.vectors_end - begin;
    }
    filter_elements<1, Filter, Layout, Columns, K>(source, down, count, strip, lane, entries, out);
}

}  // namespace cuaug
