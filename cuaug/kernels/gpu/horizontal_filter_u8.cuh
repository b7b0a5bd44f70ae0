#pragma once

#include "gpu/horizontal_filter.cuh"

// The horizontal filter of `resample` for uint8: eight adjacent pixels at once, as two words per channel. __dp4a sums
// their products with 24-bit weights, one byte of the weights at a time. 16-bit weights would miss the exact level too
// often if the scale is a ratio of small integers (benchmarks/log/resize-gpu.md).

namespace cuaug {

// 2^22, the weight 1. Sums fit an int if the positive weights of an output pixel sum to less than 2; Lanczos filters
// have the largest sums, up to 1.4.
constexpr float weight_one = 4194304.0f;

// The 24-bit weights of eight pixels: their highest bytes (signed), middle bytes and lowest bytes, four to a word.
struct EightWeights {
    Word high[2], middle[2], low[2];
};

template <>
struct HorizontalWeights<uint8> {
    static constexpr int max_steps = 3;
    SourceSpan<float> span[32];
    int left[32];  // first pixel of the first step, a multiple of four
    int steps;     // of eight pixels each
    uint2 high[max_steps][32], middle[max_steps][32], low[max_steps][32];
};

inline EightWeights eight_weights(const float (&weight)[8]) {
    EightWeights out = {};
    for (int j = 0; j < 8; ++j) {
        const int value = __float2int_rn(weight_one * weight[j]), shift = 8 * (j & 3);
        out.low[j / 4] |= (value & 255u) << shift;
        out.middle[j / 4] |= (value >> 8 & 255u) << shift;
        out.high[j / 4] |= (value >> 16 & 255u) << shift;
    }
    return out;
}

// Called by one warp. The last step ends inside the row, so that words are read without bounds checks. If that is
// impossible for one lane, no lane has steps.
template <class Filter>
inline void compute_weights(HorizontalWeights<uint8>& weights, const SourceSpan<float>& span, int width, int lane) {
    int steps = ((span.first & 3) + span.count + 7) / 8;
    for (int i = 1; i < 32; i *= 2) steps = max(steps, __shfl_xor_sync(0xffffffffu, steps, i));
    const int left = min(span.first, width - 8 * steps) & ~3;
    const bool fits =
        steps <= HorizontalWeights<uint8>::max_steps && left >= 0 && span.first + span.count <= left + 8 * steps;
    if (!__all_sync(0xffffffffu, fits)) steps = 0;
    weights.span[lane] = span;
    weights.left[lane] = left;
    weights.steps = steps;
#pragma unroll 1
    for (int i = 0; i < steps; ++i) {
        float weight[8];
#pragma unroll
        for (int j = 0; j < 8; ++j) weight[j] = pixel_weight<Filter>(span, left + 8 * i + j - span.first);
        const EightWeights eight = eight_weights(weight);
        weights.high[i][lane] = {eight.high[0], eight.high[1]};
        weights.middle[i][lane] = {eight.middle[0], eight.middle[1]};
        weights.low[i][lane] = {eight.low[0], eight.low[1]};
    }
}

inline int dot_signed(Word bytes, Word weights, int sum) {
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(bytes), "r"(weights));
    return sum;
}

// `sum` plus the products of bytes and weights. Intermediate 32-bit terms may wrap; the result does not.
inline int dot8_u8(const Word (&bytes)[2], const EightWeights& weights, int sum) {
    const Word high = dot_signed(bytes[1], weights.high[1], dot_signed(bytes[0], weights.high[0], 0)) << 8;
    const Word middle = __dp4a(bytes[1], weights.middle[1], __dp4a(bytes[0], weights.middle[0], high));
    return __dp4a(bytes[1], weights.low[1], __dp4a(bytes[0], weights.low[0], (middle << 8) + sum));
}

// Four packed pixels -> word j of each channel. The selectors of bytes are explained at `low_bytes` (word_pixel.cuh).
template <int K>
inline void to_planes(const Word (&packed)[K], Word (&plane)[K][2], int j) {
    if constexpr (K == 1) {
        plane[0][j] = packed[0];
    } else if constexpr (K == 2) {
        constexpr int even_bytes = 0x6420, odd_bytes = 0x7531;
        plane[0][j] = permute_bytes(packed[0], packed[1], even_bytes);
        plane[1][j] = permute_bytes(packed[0], packed[1], odd_bytes);
    } else if constexpr (K == 3) {  // from the lowest byte: r0 g0 b0 r1, g1 b1 r2 g2, b2 r3 g3 b3
        plane[0][j] = permute_bytes(permute_bytes(packed[0], packed[1], 0x0630), packed[2], 0x5210);
        plane[1][j] = permute_bytes(permute_bytes(packed[0], packed[1], 0x0741), packed[2], 0x6210);
        plane[2][j] = permute_bytes(permute_bytes(packed[0], packed[1], 0x0052), packed[2], 0x7410);
    } else {
        const Word low = permute_bytes(packed[0], packed[1], low_bytes),
                   low2 = permute_bytes(packed[2], packed[3], low_bytes);
        const Word high = permute_bytes(packed[0], packed[1], high_bytes),
                   high2 = permute_bytes(packed[2], packed[3], high_bytes);
        plane[0][j] = permute_bytes(low, low2, low_halves);
        plane[1][j] = permute_bytes(low, low2, high_halves);
        plane[2][j] = permute_bytes(high, high2, low_halves);
        plane[3][j] = permute_bytes(high, high2, high_halves);
    }
}

template <class Filter>
inline float weight_of(const HorizontalWeights<uint8>& weights, int lane, int i) {
    return pixel_weight<Filter>(weights.span[lane], i);
}

// A lane's output column, and the groups of eight pixels that it reads.
struct LaneColumnU8 : LaneColumn {
    int left, steps;  // no steps: pixels are added one by one
};

template <class Layout, int K>
inline LaneColumnU8 lane_column(const SourceFrame<uint8, K>& source, const HorizontalWeights<uint8>& weights,
                                int lane) {
    const bool uses_words = !is_same_v<Layout, Strided> && source.aligned;
    return {
        {lane, weights.span[lane].first, weights.span[lane].count}, weights.left[lane], uses_words ? weights.steps : 0};
}

template <class Filter, class Layout, int K>
inline void add_horizontal(const SourceFrame<uint8, K>& source, int first, const LaneColumnU8& column,
                           const HorizontalWeights<uint8>& weights, float (&sum)[rows_at_once][K]) {
    if (column.steps == 0) return add_pixels<Filter, Layout>(source, first, column, weights, sum);
    constexpr bool packed = is_same_v<Layout, Packed>;
    int total[rows_at_once][K] = {};
#pragma unroll 1
    for (int i = 0; i < column.steps; ++i) {
        const long long left = (column.left + 8 * i) * static_cast<long long>(packed ? K : 1);
        Word plane[rows_at_once][K][2];
        for (int r = 0; r < rows_at_once; ++r) {
            const uint8* at = row_of(source, min(first + r, source.height - 1)) + left;
            for (int j = 0; j < 2; ++j) {
                Word word[K];
                for (int k = 0; k < K; ++k) {
                    const uint8* from = packed ? at + 4 * (K * j + k) : at + k * source.c_stride + 4 * j;
                    __builtin_assume(__isGlobal(from));
                    word[k] = *reinterpret_cast<const Word*>(from);
                }
                if constexpr (packed)
                    to_planes(word, plane[r], j);
                else
                    for (int k = 0; k < K; ++k) plane[r][k][j] = word[k];
            }
        }
        const uint2 high = weights.high[i][column.lane], middle = weights.middle[i][column.lane],
                    low = weights.low[i][column.lane];
        const EightWeights eight = {{high.x, high.y}, {middle.x, middle.y}, {low.x, low.y}};
        for (int r = 0; r < rows_at_once; ++r)
            for (int k = 0; k < K; ++k) total[r][k] = dot8_u8(plane[r][k], eight, total[r][k]);
    }
    for (int r = 0; r < rows_at_once; ++r)
        for (int k = 0; k < K; ++k) sum[r][k] += static_cast<float>(total[r][k]) * (1.0f / weight_one);
}

}  // namespace cuaug
