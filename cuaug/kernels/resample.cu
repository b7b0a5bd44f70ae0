#include "filter.cuh"
#include "gpu/convert.cuh"
#include "gpu/tile.cuh"
#include "gpu/vertical.cuh"
#include "resample_record.cuh"

namespace cuaug {

constexpr int resize_threads = 256;
constexpr int most_weights = 16;   // taps across whose weights are made once a tile
template <class R> constexpr int strip_bytes = sizeof(R) == 4 ? 4752 : 4096;  // of a warp: 88 columns of 3 channels

// The sums of a lane's output column, in four rows.
template <class R, int K>
struct Sums {
    R of[K][rows_at_once], weight;
};

// Adds the taps that lie in a strip of columns from `left` on; `weight_of(i)` is tap i's.
template <class Layout, int Columns, class R, int K, class WeightOf>
inline void add_across(const Column<R>* strip, const Taps<R>& taps, int left, const WeightOf& weight_of, Sums<R, K>& sums) {
    const int end = taps.end_in(left + Columns);
    #pragma unroll 1
    for (int i = taps.begin_in(left); i < end; ++i) {
        const R factor = weight_of(i);
        const int column = taps.index(i) - left;
        sums.weight += factor;
        for (int k = 0; k < K; ++k) {
            const Column<R> tap = strip[slot_of<Layout, K, Columns>(column, k)];
            for (int r = 0; r < rows_at_once; ++r) sums.of[k][r] += factor * tap.row[r];
        }
    }
}

// Added to a number below 2^22 it leaves the number, rounded half to even, in the sum's low bits: one addition where rounding and
// conversion take two instructions at a quarter of its rate.
constexpr float rounder = 12582912.0f;

// A pixel rounded, on its way out. Bytes are put together without masks and shifts.
template <class Out, class R, int K>
inline Stored<Out, K> rounded(const Pixel<R, K>& pixel) {
    if constexpr (Same<Out, uint8>::value) {
        Word level[4] = {};
        for (int k = 0; k < K; ++k) level[k] = float_to_bits(fminf(fmaxf(static_cast<float>(pixel.c[k]), 0.0f), 255.0f) + rounder);
        const Word low = K > 1 ? __byte_perm(level[0], level[1], 0x0040) : level[0];
        Stored<Out, K> out;
        out.word[0] = K > 2 ? __byte_perm(low, K > 3 ? __byte_perm(level[2], level[3], 0x0040) : level[2], 0x5410) : low;
        return out;
    } else {
        return to_stored(to_texel<Out>(pixel));
    }
}

template <class R>
inline int most_taps(const Taps<R>* taps, int count, int lane) {
    int most = 0;
    for (int i = lane; i < count; i += 32) most = max(most, taps[i].count);
    for (int i = 1; i < 32; i *= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, i));
    return most;
}

inline float inverse(float value) { return __fdividef(1.0f, value); }
inline double inverse(double value) { return 1.0 / value; }

// A block makes 32 columns of an even share of the rows, K channels, a warp four rows at a time, strip by strip of source columns:
// first down the columns, into shared memory, then across, a lane an output column. Grid: (tiles across, tiles of at most 128 rows
// down, frames x groups of K).
template <class In, class InLayout, int K, class Filter, class Out, class OutLayout>
__global__ void __launch_bounds__(resize_threads, sizeof(In) == 1 && K < 4 && Filter::radius < 3 ? 3 : sizeof(Real<In>) == 4 ? 2 : 1) resample(const __grid_constant__ Resample args) {
    using R = Real<In>;
    constexpr int most_rows = 128, warps = resize_threads / 32;
    constexpr int columns_at_once = strip_bytes<R> / (K * sizeof(Column<R>)) * 8 / 9 / 8 * 8;
    constexpr bool exchanged = sizeof(Out) < 4;
    constexpr int exchange_pitch = 36;
    __shared__ alignas(16) unsigned char strip_memory[warps][strip_bytes<R>];  // a strip of each warp, and in the end its result
    __shared__ Entries<In> entries[warps];
    __shared__ R weights[most_weights][32];
    __shared__ Taps<R> across[32], down[most_rows];
    __shared__ Source<In, K> source;
    __shared__ Out* target;
    __shared__ int source_begin, source_end;   // columns

    constexpr int round = warps * rows_at_once;
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, tile_rows = (args.out_height + round * gridDim.y - 1) / (round * gridDim.y) * round;
    const int left = blockIdx.x * 32, top = blockIdx.y * tile_rows;
    const int columns = min(32, args.out_width - left), rows = min(tile_rows, args.out_height - top);
    constexpr bool grouped = Same<InLayout, Strided>::value || Same<OutLayout, Strided>::value;
    const int groups = grouped ? (args.channels + K - 1) / K : 1;

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * groups; slice += gridDim.z) {
        const int first = grouped ? static_cast<int>(slice % groups) * K : 0;
        const long long frame = grouped ? slice / groups : slice, n = args.frames == 1 ? frame : frame / args.frames;
        for (int part = warp_index; part < most_rows / 32 + 1; part += warps) {
            const bool is_row = part < most_rows / 32;
            if (is_row && part * 32 >= rows) continue;
            const double start = box_side(args, n, is_row ? 0 : 1), extent = box_side(args, n, is_row ? 2 : 3);
            const int at = is_row ? top + min(part * 32 + lane, rows - 1) : left + min(lane, columns - 1);
            const Taps<R> taps = raw_taps_of<Filter, R>(start, extent, is_row ? args.out_height : args.out_width, at, args.antialias);
            (is_row ? down + part * 32 : across)[lane] = taps;
            if (!is_row && lane == 0) source_begin = taps.index(0) & ~3;
            if (!is_row && lane == 31) source_end = taps.count > 0 ? taps.index(taps.count - 1) + 1 : -2147483647;
        }
        if (warp_index == warps - 1) {
            if (lane < K) source.fill.c[lane] = from_real<In>(fill_value(args.fill, n, min(first + lane, args.channels - 1)));
            if (lane == 0) {
                const long long t = frame - n * args.frames;
                const In* data = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t;
                for (int k = 0; k < K; ++k) source.channel[k] = data + min(first + k, args.channels - 1) * args.in.c;
                source.y_stride = static_cast<int>(args.in.y);
                source.x_stride = column_stride<InLayout, K>(args.in.x);
                source.height = args.in_height;
                source.width = args.in_width;
                target = static_cast<Out*>(args.out.data) + n * args.out.n + t * args.out.t + first * args.out.c;
            }
        }
        __syncthreads();
        const int weighed = min(most_weights, most_taps(across, 32, lane));
        for (int i = warp_index; i < weighed; i += warps) weights[i][lane] = weight<Filter>(across[lane], i);
        __syncthreads();

        const int taps = most_taps(down, rows, lane);
        const int count = (taps + Entry<In>::taps - 1) / Entry<In>::taps, begin = source_begin, end = taps > 0 ? source_end : begin;

        #pragma unroll 1
        for (int y = warp_index * rows_at_once; y < rows; y += warps * rows_at_once) {
            if (y + warps * rows_at_once < rows) prefetch<InLayout, K>(source, down + y + warps * rows_at_once, begin, end, lane);
            R total = R(0);
            bool inside = true;
            #pragma unroll 1
            for (int i = 0; i < count; i += entries_at_once) {
                __syncwarp();
                total += fill_entries<Filter, In>(down + y, i * Entry<In>::taps, lane, source.height, entries[warp_index], inside);
            }
            for (int i = rows_at_once; i < 32; i *= 2) total += __shfl_xor_sync(0xffffffffu, total, i);
            const bool vector = __all_sync(0xffffffffu, inside && args.in_aligned);

            Sums<R, K> sums = {};
            Column<R>* strip = reinterpret_cast<Column<R>*>(strip_memory[warp_index]);
            #pragma unroll 1
            for (int x = begin; x < end; x += columns_at_once) {
                __syncwarp();
                filter_down<Filter, InLayout, columns_at_once, K>(source, down + y, count, vector, x, min(columns_at_once, end - x), lane, entries[warp_index], strip);
                __syncwarp();
                const Taps<R> mine = across[lane];
                if (mine.count <= most_weights) add_across<InLayout, columns_at_once>(strip, mine, x, [&](int i) { return weights[i][lane]; }, sums);
                else add_across<InLayout, columns_at_once>(strip, mine, x, [&](int i) { return weight<Filter>(mine, i); }, sums);
            }
            if (begin >= end) {
                sums.weight = total = R(1);
                for (int k = 0; k < K; ++k)
                    for (int r = 0; r < rows_at_once; ++r) sums.of[k][r] = to_real<R>(source.fill.c[k]);
            }
            __syncwarp();

            long long offset[K];
            for (int k = 0; k < K; ++k) offset[k] = Same<OutLayout, Packed>::value ? k : grouped ? min(k, args.channels - 1 - first) * args.out.c : k * args.out.c;
            const int x_stride = column_stride<OutLayout, K>(args.out.x);
            Out* out = target + static_cast<long long>(left) * x_stride;
            auto write = [&](int y, int column, const Stored<Out, K>& pixel) {
                if (y < rows && column < columns)
                    for (int k = 0; k < K; ++k)
                        out[offset[k] + static_cast<long long>(top + y) * static_cast<int>(args.out.y) + column * x_stride] = to_texel(pixel).c[k];
            };
            FourPixels<Out, K>* exchange = reinterpret_cast<FourPixels<Out, K>*>(strip_memory[warp_index]);
            const R norm = inverse(sums.weight), row_norm = inverse(total);
            for (int r = 0; r < rows_at_once; ++r) {
                const R both = norm * __shfl_sync(0xffffffffu, row_norm, r);
                Pixel<R, K> sum;
                for (int k = 0; k < K; ++k) sum.c[k] = sums.of[k][r] * both;
                const Stored<Out, K> pixel = rounded<Out>(sum);
                if constexpr (exchanged) reinterpret_cast<Stored<Out, K>*>(exchange)[r * exchange_pitch + lane] = pixel;
                else write(y + r, lane, pixel);
            }
            if constexpr (exchanged) {
                __syncwarp();
                const int row = y + (lane >> 3), column = 4 * (lane & 7);
                if (!Same<OutLayout, Strided>::value && args.out_aligned && column + 4 <= columns) {
                    const FourPixels<Out, K> four = exchange[(lane >> 3) * (exchange_pitch / 4) + (lane & 7)];
                    if (row < rows)
                        store_four<OutLayout, Out, K>(out + static_cast<long long>(top + row) * static_cast<int>(args.out.y) + column * x_stride, offset, four);
                } else {
                    #pragma unroll 1
                    for (int i = 0; i < 4; ++i)
                        write(row, column + i, reinterpret_cast<const Stored<Out, K>*>(exchange)[(lane >> 3) * exchange_pitch + column + i]);
                }
            }
        }
        __syncthreads();
    }
}

}  // namespace cuaug
