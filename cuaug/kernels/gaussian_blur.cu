#include "gaussian_blur_record.cuh"
#include "gpu/convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/vectors.cuh"

namespace cuaug {

constexpr int blur_threads = 256, blur_warps = blur_threads / 32;
template <class R> constexpr int blur_chunk = sizeof(R) == 4 ? 32 : 16;  // source rows that are staged at a time: a lane filters a row
constexpr int blur_run = 8;     // adjacent results of a thread

template <class R> struct alignas(16) Four { R of[4]; };

// Bytes are staged by words, so that their tile begins at a multiple of four: their taps begin with some of weight 0.
template <class In> inline int leading_taps(int radius) { return Same<In, uint8>::value ? -radius & 3 : 0; }

// Shared memory of a block; cuaug/_pass.py counts its bytes. Rows are an odd number of vectors of 16 bytes apart, so that lanes that
// read one below the other meet no bank twice.
template <class R>
struct BlurTile {
    int taps, rows_of_taps;  // across and down, leading ones included
    int staged_width, staged_pitch, pitch, rows;
    Four<R>*across, *down;   // weights
    int* column;             // of the image, the border resolved. [staged_width]
    R* staged;               // [chunk, staged_pitch]
    R* filtered;             // [rows, pitch]

    static int odd(int width) { return sizeof(R) == 4 ? width | 4 : width + 2; }

    BlurTile(char* memory, const GaussianBlur& args, int leading) {
        taps = args.kernel_width + leading;
        rows_of_taps = args.kernel_height;
        staged_width = args.tile_width + (taps + 3 & ~3);
        staged_pitch = odd(staged_width);
        pitch = odd(args.tile_width);
        rows = args.tile_height + (rows_of_taps + 3 & ~3);
        across = reinterpret_cast<Four<R>*>(memory);
        down = across + (taps + 3) / 4;
        column = reinterpret_cast<int*>(down + (rows_of_taps + 3) / 4);
        staged = reinterpret_cast<R*>(column + staged_width);
        filtered = staged + blur_chunk<R> * staged_pitch;
    }
};

// The taps that count: from a multiple of four on.
struct TapRange {
    int from, end;
};

// Less than this on either side changes no byte, and no float by more than its last digits.
template <class In> constexpr double negligible = sizeof(In) == 8 ? 0.0 : Same<In, uint8>::value ? 1.0 / (1 << 18) : 1.0 / (1 << 27);

// Called by one warp: weights of `leading` taps of 0, those of the Gaussian, whose sum is 1, and 0 up to a multiple of four. A narrow
// Gaussian does not fill its window: half of SimCLR's taps are left out.
template <class In, class R>
inline TapRange weigh_gaussian(R* weight, int leading, int size, double sigma, int lane) {
    R sum = R(0);
    for (int i = lane; i < (leading + size + 3 & ~3); i += 32) {
        const int tap = i - leading;
        weight[i] = tap >= 0 && tap < size ? gaussian_weight<R>(tap - size / 2, sigma) : R(0);
        sum += weight[i];
    }
    for (int i = 16; i > 0; i /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, i);
    int first = leading + size, last = 0;
    for (int i = lane; i < leading + size; i += 32) {
        weight[i] /= sum;
        if (weight[i] > R(negligible<In>) || !(weight[i] == weight[i])) first = min(first, i), last = max(last, i);
    }
    for (int i = 16; i > 0; i /= 2) first = min(first, __shfl_xor_sync(0xffffffffu, first, i)), last = max(last, __shfl_xor_sync(0xffffffffu, last, i));
    return {first & ~3, last + 1};
}

// sum[i] += weight[t] * in[i + t], `in` being what `four` reads, four at a time. Where values are finite, a weight of 0 hides what
// lies beyond the taps. The window's registers are back in place after three steps.
template <bool Finite, class R, class Read>
inline void slide(const Read& four, const Four<R>* weight, const TapRange& range, R (&sum)[blur_run]) {
    R window[blur_run + 4];
    for (int i = 0; i < blur_run; i += 4) {
        const Four<R> next = four(range.from + i);
        for (int j = 0; j < 4; ++j) window[i + j] = next.of[j];
    }
    #pragma unroll 3
    for (int t = range.from; t < range.end; t += 4) {
        const Four<R> next = four(blur_run + t), factor = weight[t / 4];
        for (int j = 0; j < 4; ++j) window[blur_run + j] = next.of[j];
        for (int j = 0; j < 4; ++j)
            if (Finite || t + j < range.end)
                for (int i = 0; i < blur_run; ++i) sum[i] += factor.of[j] * window[i + j];
        for (int i = 0; i < blur_run; ++i) window[i] = window[i + 4];
    }
}

// As Reflect, for what lies near: a fold or two are cheaper than a division.
inline int reflected(int i, int n) {
    while (n > 1 && (i < 0 || i >= n)) i = i < 0 ? -i : 2 * n - 2 - i;
    return n > 1 ? i : 0;
}

// The rows of a chunk that a warp stages, `blur_warps` apart: all are asked for before the first is waited for.
template <class In>
struct BlurRows {
    static constexpr int count = blur_chunk<Real<In>> / blur_warps;
    const In* in;       // [height, width], channel k
    int y[count];
    int k, y_stride, x_stride;
    int inside_from, inside_to;  // columns of the tile that may be read by words

    const In* at(int r) const { return in + static_cast<long long>(y[r]) * y_stride; }
};

// A warp stages its rows: 128 columns at a time, a lane four of them.
template <class Layout, int K, class In, class R>
inline void stage_rows(const BlurRows<In>& rows, const int* column, int count, R* to, int pitch, int lane) {
    constexpr bool words = Same<In, uint8>::value && !Same<Layout, Strided>::value;
    constexpr int group = Same<Layout, Packed>::value ? K : 1, each = BlurRows<In>::count, apart = words ? 1 : 32;
    const long long none[1] = {};
    for (int i = words ? 4 * lane : lane; i < count; i += 128) {
        Four<R> values[each];
        const bool inside = words && i >= rows.inside_from && i < rows.inside_to;
        if constexpr (words) {
            if (inside) {
                Vectors<In, group, 1> raw[each];
                const long long first = static_cast<long long>(column[i]) * group - (group == 1 ? 0 : rows.k);
                for (int r = 0; r < each; ++r) raw[r] = load_vectors<Layout, In, group>(rows.at(r) + first, none);
                for (int r = 0; r < each; ++r) {
                    if constexpr (group == 1) {
                        for (int j = 0; j < 4; ++j) values[r].of[j] = static_cast<R>(static_cast<uint8>(raw[r].of[0][0].word[0] >> 8 * j));
                    } else {
                        const FourPixels<In, group> pixels = gather<Layout, In, group>(raw[r].of[0]);
                        for (int j = 0; j < 4; ++j) values[r].of[j] = static_cast<R>(static_cast<uint8>(pixels.v[j].word[0] >> 8 * rows.k));
                    }
                }
            }
        }
        if (!inside) {
            In raw[each][4];
            for (int j = 0; j < 4; ++j) {
                const long long offset = static_cast<long long>(column[min(i + j * apart, count - 1)]) * rows.x_stride;
                for (int r = 0; r < each; ++r) raw[r][j] = rows.at(r)[offset];
            }
            for (int r = 0; r < each; ++r)
                for (int j = 0; j < 4; ++j) values[r].of[j] = to_real<R>(raw[r][j]);
        }
        for (int r = 0; r < each; ++r) {
            R* at = to + r * blur_warps * pitch + i;
            if constexpr (words) *reinterpret_cast<Four<R>*>(at) = values[r];
            else
                for (int j = 0; j < 4; ++j)
                    if (i + j * apart < count) at[j * apart] = values[r].of[j];
        }
    }
}

// A share of white is the same in every dtype.
template <class Out, class In>
inline Out scaled(Real<In> value) {
    if constexpr (white<Out> == white<In>) return from_real<Out>(value);
    else return from_real<Out>(value * (Real<In>(1) / Real<In>(white<In>)) * Real<In>(white<Out>));
}

// A block makes a tile of K channels, one after the other: it stages some source rows in shared memory, filters them across, and when
// all rows of the tile are there, down. Grid: (tiles across, tiles down, frames x groups of K).
template <class In, class InLayout, int K, class Out, class OutLayout>
__global__ void __launch_bounds__(blur_threads, sizeof(Real<In>) == 8 ? 2 : Same<InLayout, Packed>::value ? 3 : 4) gaussian_blur(const __grid_constant__ GaussianBlur args) {
    using R = Real<In>;
    constexpr bool grouped = Same<InLayout, Strided>::value || Same<OutLayout, Strided>::value;
    constexpr bool finite = Same<In, uint8>::value || Same<In, uint16>::value || Same<In, int16>::value;
    extern __shared__ __align__(16) char memory[];
    __shared__ TapRange ranges[2];

    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5, radius = args.kernel_width / 2, leading = leading_taps<In>(radius);
    const BlurTile<R> tile(memory, args, leading);
    const int left = blockIdx.x * args.tile_width, top = blockIdx.y * args.tile_height, groups = grouped ? (args.channels + K - 1) / K : 1;
    const int above = top - args.kernel_height / 2;
    const int in_step = column_stride<InLayout, K>(args.in.x), out_step = column_stride<OutLayout, K>(args.out.x);

    const int outside = radius + leading - left, inside_from = max(0, outside), inside_to = args.in_aligned ? outside + args.in_width - 3 : 0;
    for (int i = threadIdx.x; i < tile.staged_width; i += blur_threads) tile.column[i] = reflected(i - outside, args.in_width);
    __syncthreads();

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * groups; slice += gridDim.z) {
        const long long frame = grouped ? slice / groups : slice, n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const int first = grouped ? static_cast<int>(slice - frame * groups) * K : 0, channels = grouped ? min(K, args.channels - first) : K;
        const In* in = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t + first * args.in.c;
        Out* out = static_cast<Out*>(args.out.data) + n * args.out.n + t * args.out.t + first * args.out.c;
        if (warp_index == 0) ranges[0] = weigh_gaussian<In>(tile.across->of, leading, args.kernel_width, sigma_of(args, n, 0), lane);
        if (warp_index == 1) ranges[1] = weigh_gaussian<In>(tile.down->of, 0, args.kernel_height, sigma_of(args, n, 1), lane);
        __syncthreads();
        const TapRange across = ranges[0], down = ranges[1];
        const int last_row = args.tile_height + (down.end + 3 & ~3), chunks = (last_row - down.from + blur_chunk<R> - 1) / blur_chunk<R>, chunk = (last_row - down.from + chunks - 1) / chunks;

        #pragma unroll 1
        for (int k = 0; k < channels; ++k) {
            for (int begin = down.from; begin < last_row; begin += chunk) {
                const int rows = min(chunk, last_row - begin);
                BlurRows<In> from = {in + (Same<InLayout, Packed>::value ? k : k * args.in.c), {}, k, static_cast<int>(args.in.y), in_step, inside_from, inside_to};
                for (int r = 0; r < BlurRows<In>::count; ++r)
                    from.y[r] = reflected(above + begin + min(warp_index + r * blur_warps, rows - 1), args.in_height);
                stage_rows<InLayout, K>(from, tile.column, tile.staged_width, tile.staged + warp_index * tile.staged_pitch, tile.staged_pitch, lane);
                __syncthreads();
                if (lane < rows) {
                    for (int x = warp_index * blur_run; x < args.tile_width; x += blur_warps * blur_run) {
                        R sum[blur_run] = {};
                        const R* at = tile.staged + lane * tile.staged_pitch + x;
                        slide<finite>([&](int i) { return *reinterpret_cast<const Four<R>*>(at + i); }, tile.across, across, sum);
                        Four<R>* to = reinterpret_cast<Four<R>*>(tile.filtered + (begin + lane) * tile.pitch + x);
                        for (int i = 0; i < blur_run; i += 4) to[i / 4] = {{sum[i], sum[i + 1], sum[i + 2], sum[i + 3]}};
                    }
                }
                __syncthreads();
            }
            for (int i = threadIdx.x; i < args.tile_width * args.tile_height / blur_run; i += blur_threads) {
                const int piece = i / args.tile_width, column = i - piece * args.tile_width, x = left + column, y = top + piece * blur_run;
                if (x >= args.in_width || y >= args.in_height) continue;
                R sum[blur_run] = {};
                const R* at = tile.filtered + piece * blur_run * tile.pitch + column;
                slide<finite>([&](int j) {
                    const R* from = at + j * tile.pitch;
                    return Four<R>{{from[0], from[tile.pitch], from[2 * tile.pitch], from[3 * tile.pitch]}};
                }, tile.down, down, sum);
                Out* to = out + (Same<OutLayout, Packed>::value ? k : k * args.out.c) + y * args.out.y + static_cast<long long>(x) * out_step;
                for (int j = 0; j < blur_run; ++j, to += args.out.y)
                    if (y + j < args.in_height) *to = scaled<Out, In>(sum[j]);
            }
        }
        __syncthreads();
    }
}

}  // namespace cuaug
