#include "records/gaussian_blur.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/layout.cuh"
#include "gpu/reduce.cuh"
#include "gpu/vectors.cuh"

namespace cuaug {

constexpr int blur_threads = 224, blur_warps = blur_threads / 32;
constexpr int blur_run = 8;  // adjacent pixels that a thread makes across
template <class R>
constexpr int blur_rows = sizeof(R) == 4 ? 8 : 4;  // adjacent rows, of four elements, that a thread makes down
constexpr int blur_ahead = 4;                      // rows that are asked for before they are needed
template <class In>
constexpr int blur_blocks = sizeof(In) == 8   ? 1
                            : sizeof(In) == 1 ? 3
                                              : 2;  // of an SM, by registers

// Channels that are filtered together: packed ones, as they lie. Doubles of four channels would be too many for shared
// memory.
template <class Layout, class In, int K>
constexpr int together = is_same_v<Layout, Packed> && sizeof(In) < 8 ? K : 1;

template <class R>
struct alignas(16) Four {
    R of[4];
};

inline int fours(int count) { return count + 3 & ~3; }

// Shared memory of a block; cuaug/_grids.py counts its bytes. Rows are an odd number of vectors of 16 bytes apart, so
// that lanes that read one below the other meet no bank twice.
template <class R, int S>
struct BlurTile {
    int middle;  // of the weights across, and pixels before the tile's: a multiple of four
    int pitch;
    R *across, *down;  // weights
    long long* row;    // where rows begin, the border resolved, from half a kernel above the tile on: in elements
    R* filtered;       // down. [tile_height, pitch]

    BlurTile(char* memory, const GaussianBlurRecord& args) {
        constexpr int each = 16 / sizeof(R);
        middle = fours(args.kernel_width / 2);
        pitch = (S * (args.tile_width + 2 * middle + 4) / each | 1) * each;
        across = reinterpret_cast<R*>(memory);
        down = across + 2 * middle + 4;
        row = reinterpret_cast<long long*>(down + fours(args.kernel_height));
        filtered = reinterpret_cast<R*>(row + rows(args));
    }

    static int rows(const GaussianBlurRecord& args) {
        return fours(args.tile_height + args.kernel_height + blur_ahead);
    }
};

// Less than this on either side changes no byte, and no float by more than its last digits.
template <class In>
constexpr double negligible = sizeof(In) == 8        ? 0.0
                              : is_same_v<In, uint8> ? 1.0 / (1 << 18)
                                                     : 1.0 / (1 << 27);

// Called by one warp: weights of the Gaussian, whose sum is 1, about `middle`, and 0 around them. Returns how far from
// the middle they count: a narrow Gaussian does not fill its window, half of SimCLR's taps are left out.
template <class In, class R>
inline int weigh_gaussian(R* weight, int middle, int radius, double sigma, int lane) {
    R sum = R(0);
    for (int i = lane; i <= 2 * middle; i += 32) {
        weight[i] = abs(i - middle) <= radius ? gaussian_weight<R>(i - middle, sigma) : R(0);
        sum += weight[i];
    }
    sum = warp_sum(sum);
    int reach = 0;
    for (int i = lane; i <= 2 * middle; i += 32) {
        weight[i] /= sum;
        if (weight[i] > R(negligible<In>) || !(weight[i] == weight[i])) reach = max(reach, abs(i - middle));
    }
    for (int i = 16; i > 0; i /= 2) reach = max(reach, __shfl_xor_sync(0xffffffffu, reach, i));
    return min(reach, radius);
}

// As Reflect, for what lies near: a fold or two are cheaper than a division.
inline int reflected(int i, int n) {
    while (n > 1 && (i < 0 || i >= n)) i = i < 0 ? -i : 2 * n - 2 - i;
    return n > 1 ? i : 0;
}

template <class R, class T>
inline Four<R> to_four(const WordPixel<T, 4>& stored) {
    const Pixel<R, 4> pixel = unpack<R>(stored);
    return {{pixel.c[0], pixel.c[1], pixel.c[2], pixel.c[3]}};
}

// sum[i] += weight[t] * row(i + t), four columns at a time. A window of rows goes down with the taps, in registers: row
// i + t is in place (i + t) % rows.
template <class T, class R, int Rows, class Read>
inline void filter_down(const Read& read, const R* weight, int taps, Four<R> (&sum)[Rows]) {
    WordPixel<T, 4> first[Rows], next[blur_ahead];
    for (int i = 0; i < Rows; ++i) first[i] = read(i);
    for (int i = 0; i < blur_ahead; ++i) next[i] = read(Rows + i);
    Four<R> window[Rows];
    for (int i = 0; i < Rows; ++i) window[i] = to_four<R, T>(first[i]);
#pragma unroll 1
    for (int t = 0;; t += Rows) {
#pragma unroll
        for (int u = 0; u < Rows; ++u) {
            const R factor = weight[t + u];
            for (int i = 0; i < Rows; ++i)
                for (int j = 0; j < 4; ++j) sum[i].of[j] += factor * window[(i + u) % Rows].of[j];
            if (t + u + 1 == taps) return;
            window[u] = to_four<R, T>(next[u % blur_ahead]);
            next[u % blur_ahead] = read(Rows + blur_ahead + t + u);
        }
    }
}

// sum[i] += weight[t] * at[i + S * t], four taps at a time. A window of three groups of four pixels goes along, in
// registers: they take turns as the rows do above. Where values are finite, a weight of 0 hides what lies at the
// `leading` taps.
template <bool Finite, int S, class R>
inline void filter_across(const R* at, const R* weight, int leading, int taps, R (&sum)[S * blur_run]) {
    static_assert(blur_run == 8, "a window of three groups");
    Four<R> window[3][S];
    const Four<R>* from = reinterpret_cast<const Four<R>*>(at);
    for (int g = 0; g < 2; ++g)
        for (int i = 0; i < S; ++i) window[g][i] = from[S * g + i];
    auto go_on = [&](auto turn, int t) {
        constexpr int first = decltype(turn)::value;
        const int left = taps - t;
        const Four<R> factor = *reinterpret_cast<const Four<R>*>(weight + t);
        for (int i = 0; i < S; ++i) window[(first + 2) % 3][i] = from[S * (2 + t / 4) + i];
        auto tap = [&](int j) {
            for (int i = 0; i < S * blur_run; ++i) {
                const int p = S * j + i;
                sum[i] += factor.of[j] * window[(first + p / (4 * S)) % 3][p / 4 % S].of[p % 4];
            }
        };
        if (left >= 4 && (Finite || first > 0 || t >= leading)) {
            for (int j = 0; j < 4; ++j) tap(j);
        } else {
            for (int j = 0; j < 4; ++j)
                if ((Finite || t + j >= leading) && j < left) tap(j);
        }
        return left > 4;
    };
    for (int t = 0; go_on(Int<0>(), t) && go_on(Int<1>(), t + 4) && go_on(Int<2>(), t + 8);) t += 12;
}

// What a block has of an image. Elements are counted along a row: `S` adjacent ones are a pixel.
struct BlurPart {
    int left, top;         // pixels
    int width, height;     // of the image
    int columns, rows;     // of the tile inside the image
    int reach_x, reach_y;  // of the Gaussian
    int halo;              // pixels before the tile that are filtered down too: a multiple of four
};

// Columns beyond the image are those that they mirror, filtered down already.
template <int S, class R>
inline void mirror_columns(const BlurTile<R, S>& tile, const BlurPart& part) {
    const int lane = threadIdx.x & 31, warp_index = threadIdx.x >> 5;
    const int before = max(0, part.halo - part.left),
              after = max(0, part.left + part.columns + part.reach_x - part.width);
    R* at = tile.filtered + S * (tile.middle - part.left);
    for (int i = lane; i < S * (before + after); i += 32) {
        const int pixel = i / S, x = pixel < before ? pixel - before : part.width + pixel - before, k = i - S * pixel;
        const int from = S * reflected(x, part.width) + k, to = S * x + k;
        for (int row = warp_index; row < part.rows; row += blur_warps)
            at[row * tile.pitch + to] = at[row * tile.pitch + from];
    }
}

// The tile's rows, and what lies beside it, filtered down.
template <class Layout, int S, class In, class R>
inline void down_columns(const BlurTile<R, S>& tile, const BlurPart& part, const GaussianBlurRecord& args,
                         const In* in) {
    constexpr int rows = blur_rows<R>;
    const int elements = S * part.width, from = S * max(0, part.left - part.halo),
              end = min(elements, S * (part.left + args.tile_width + part.reach_x));
    const int words = (end - from + 3) / 4, pieces = (part.rows + rows - 1) / rows;
    const int x_stride = S > 1 || is_same_v<Layout, Planar> ? 1 : column_stride<Layout, S>(args.in.x);
    const float share = __fdividef(1.0f, static_cast<float>(words));
    const long long none[1] = {};
    const R* weight = tile.down + args.kernel_height / 2 - part.reach_y;
    for (int i = threadIdx.x; i < words * pieces; i += blur_threads) {
        const int piece = static_cast<int>((i + 0.5f) * share), element = from + 4 * (i - piece * words);
        const In* column = in + static_cast<long long>(element) * x_stride;
        auto make = [&](auto count, int y, auto read) {
            const long long* row = tile.row + args.kernel_height / 2 - part.reach_y + y;
            Four<R> sum[decltype(count)::value] = {};
            filter_down<In>([&](int j) { return read(column + row[j]); }, weight, 2 * part.reach_y + 1, sum);
            R* to = tile.filtered + y * tile.pitch + element + S * (tile.middle - part.left);
            for (int j = 0; j < decltype(count)::value; ++j) *reinterpret_cast<Four<R>*>(to + j * tile.pitch) = sum[j];
        };
        if (!is_same_v<Layout, Strided> && args.in_vector_elements && element + 4 <= elements) {
            make(Int<rows>(), piece * rows, [&](const In* at) {
                const FourElements<In> raw = load_vectors<Planar, In, 1>(at, none).of[0][0];
                WordPixel<In, 4> out;
                memcpy(&out, &raw, sizeof(out));
                return out;
            });
        } else {  // half the rows at a time, as there are more addresses to keep
            using Offset = conditional_t<is_same_v<Layout, Strided>, long long, int>;
            Offset beside[4];
            for (int j = 0; j < 4; ++j) beside[j] = static_cast<Offset>(min(j, elements - 1 - element)) * x_stride;
#pragma unroll 1
            for (int y = piece * rows; y < (piece + 1) * rows; y += blur_ahead)
                make(Int<blur_ahead>(), y, [&](const In* at) {
                    return to_word_pixel(RawPixel<In, 4>{{at[0], at[beside[1]], at[beside[2]], at[beside[3]]}});
                });
        }
    }
}

// A share of white is the same in every dtype.
template <class Out, class In>
inline ComputeType<In> scaled(ComputeType<In> value) {
    if constexpr (max_value<Out> == max_value<In>)
        return value;
    else
        return value * (ComputeType<In>(1) / ComputeType<In>(max_value<In>)) * ComputeType<In>(max_value<Out>);
}

// `Each` vectors of four elements at a time.
template <int Each, class T, int Count>
inline void store_vectors(T* at, const FourElements<T> (&four)[Count]) {
    for (int v = 0; v < Count; v += Each) {
        AlignedVector<T, Each> run, *to = reinterpret_cast<AlignedVector<T, Each>*>(at + 4 * v);
        for (int i = 0; i < Each; ++i) run.of[i] = four[v + i];
        __builtin_assume(__isGlobal(to));
        *to = run;
    }
}

// The first `count` pixels of a run.
template <class Layout, int S, class T, class R>
inline void store_run(T* at, long long c_stride, int step, int aligned, int count, const R (&value)[S * blur_run]) {
    constexpr bool packed = is_same_v<Layout, Packed>;
    constexpr int lines = packed ? 1 : S, length = S * blur_run / lines;
    if (!is_same_v<Layout, Strided> && aligned && count >= blur_run) {
        for (int k = 0; k < lines; ++k) {
            FourElements<T> four[length / 4];
            for (int v = 0; v < length / 4; ++v) {
                Pixel<R, 4> of;
                for (int j = 0; j < 4; ++j) of.c[j] = value[packed ? 4 * v + j : S * (4 * v + j) + k];
                const WordPixel<T, 4> stored = cuaug::saturate_pack<T>(of);
                memcpy(&four[v], &stored, sizeof(stored));
            }
            constexpr int most = sizeof(FourElements<T>) <= 8 ? 2 : 1;
            if (aligned >= 4 * most)
                store_vectors<most>(at + k * c_stride, four);
            else
                store_vectors<1>(at + k * c_stride, four);
        }
    } else {
        for (int i = 0; i < blur_run; ++i)
            for (int k = 0; k < S; ++k)
                if (i < count) at[k * c_stride + static_cast<long long>(i) * step] = saturate_cast<T>(value[S * i + k]);
    }
}

// The tile's rows, filtered across: eight lanes take runs of adjacent pixels, in as many rows as it needs to meet no
// bank twice.
template <class Layout, int S, class In, class Out, class R>
inline void across_rows(const BlurTile<R, S>& tile, const BlurPart& part, const GaussianBlurRecord& args, Out* out,
                        int step) {
    constexpr bool finite = is_same_v<In, uint8> || is_same_v<In, uint16> || is_same_v<In, int16>;
    constexpr int vectors = S * blur_run * sizeof(R) / 16,
                  down = vectors % 8 == 0   ? 8
                         : vectors % 4 == 0 ? 4
                         : vectors % 2 == 0 ? 2
                                            : 1,
                  beside = 8 / down;
    const int runs = (part.columns + blur_run - 1) / blur_run, cells = (runs + beside - 1) / beside,
              all = cells * ((part.rows + down - 1) / down) * 8;
    const float share = __fdividef(1.0f, static_cast<float>(cells));
    for (int i = threadIdx.x; i < all; i += blur_threads) {
        const int cell = i >> 3, cell_y = static_cast<int>((cell + 0.5f) * share), place = i & 7;
        const int x = ((cell - cell_y * cells) * beside + place % beside) * blur_run,
                  y = cell_y * down + place / beside;
        if (x >= part.columns || y >= part.rows) continue;
        R sum[S * blur_run] = {};
        filter_across<finite, S>(tile.filtered + y * tile.pitch + S * (tile.middle - part.halo + x),
                                 tile.across + tile.middle - part.halo, part.halo - part.reach_x,
                                 part.halo + part.reach_x + 1, sum);
        for (int j = 0; j < S * blur_run; ++j) sum[j] = scaled<Out, In>(sum[j]);
        Out* to = out + (part.top + y) * args.out.y + static_cast<long long>(part.left + x) * step;
        store_run<Layout, S>(to, args.out.c, step, args.out_vector_elements, part.columns - x, sum);
    }
}

// A block makes a tile, all channels together if they are packed, else one after the other: it filters the image's
// columns down into shared memory, as they are read, and from there across. Grid: (tiles across, tiles down, frames x
// groups of K).
template <class In, class InLayout, int K, class Out, class OutLayout>
__global__ void __launch_bounds__(blur_threads, blur_blocks<In>)
    gaussian_blur(const __grid_constant__ GaussianBlurRecord args) {
    using R = ComputeType<In>;
    constexpr int S = together<InLayout, In, K>;
    using From = conditional_t<is_same_v<InLayout, Packed> && S == 1, Strided, InLayout>;
    using To = conditional_t<is_same_v<OutLayout, Packed> && S == 1, Strided, OutLayout>;
    constexpr bool split_channels = is_same_v<InLayout, Strided> || is_same_v<OutLayout, Strided>;
    extern __shared__ __align__(16) char memory[];
    __shared__ int reach[2];

    const BlurTile<R, S> tile(memory, args);
    const int left = blockIdx.x * args.tile_width, top = blockIdx.y * args.tile_height,
              channel_groups = split_channels ? (args.channels + K - 1) / K : 1;
    const int columns = min(args.tile_width, args.in_width - left), rows = min(args.tile_height, args.in_height - top);
    const int radius_x = args.kernel_width / 2, radius_y = args.kernel_height / 2, lane = threadIdx.x & 31,
              warp_index = threadIdx.x >> 5;
    for (int i = threadIdx.x; i < tile.rows(args); i += blur_threads)
        tile.row[i] = reflected(top - radius_y + i, args.in_height) * args.in.y;

    for (long long slice = blockIdx.z; slice < args.samples * args.frames * channel_groups; slice += gridDim.z) {
        const long long frame = split_channels ? slice / channel_groups : slice,
                        n = args.frames == 1 ? frame : frame / args.frames, t = frame - n * args.frames;
        const int first = split_channels ? static_cast<int>(slice - frame * channel_groups) * K : 0,
                  channels = split_channels ? min(K, args.channels - first) : K;
        const In* in = static_cast<const In*>(args.in.data) + n * args.in.n + t * args.in.t + first * args.in.c;
        Out* out = static_cast<Out*>(args.out.data) + n * args.out.n + t * args.out.t + first * args.out.c;
        if (warp_index == 0)
            reach[0] = weigh_gaussian<In>(tile.across, tile.middle, radius_x, sigma_of(args, n, 0), lane);
        if (warp_index == 1) reach[1] = weigh_gaussian<In>(tile.down, radius_y, radius_y, sigma_of(args, n, 1), lane);
        __syncthreads();
        const BlurPart part = {left, top,      args.in_width, args.in_height, columns,
                               rows, reach[0], reach[1],      fours(reach[0])};

#pragma unroll 1
        for (int k = 0; k < channels; k += S) {
            down_columns<From>(tile, part, args, in + k * args.in.c);
            __syncthreads();
            mirror_columns(tile, part);
            __syncthreads();
            across_rows<To, S, In>(tile, part, args, out + k * args.out.c, column_stride<OutLayout, K>(args.out.x));
            __syncthreads();
        }
    }
}

}  // namespace cuaug
