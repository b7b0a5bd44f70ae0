#pragma once

#include "gpu/integer_mma.cuh"
#include "gpu/reduce.cuh"
#include "records/gaussian_blur.cuh"

// The weights of a Gaussian as matrices of bytes, for gaussian_blur_u8. A weight is an integer in units of 2^-16, in
// two digits: 256 times the high one plus the low one.

namespace cuaug {

constexpr int max_mma_radius = 12;  // of a kernel that these matrices hold

// Both digits of the weights of one axis, in shared memory, by distance: 0 where there is no weight. Weights are `Step`
// elements apart.
template <int Step>
struct DigitTable {
    static constexpr int centre = 64, length = 2 * centre / 4 + 1;

    Word words[2][length];  // [high, low], four bytes each

    uint8* bytes(int digit) { return reinterpret_cast<uint8*>(words[digit]); }
    const uint8* bytes(int digit) const { return reinterpret_cast<const uint8*>(words[digit]); }

    // Called by all lanes of one warp. The sum of the weights up to each distance is rounded, so that the sum of all
    // weights is exactly 2^16. A NaN sigma makes all weights 0. Returns whether the filter changes nothing.
    bool compute(int radius, double sigma, int lane) {
        for (int i = lane; i < length; i += 32) words[0][i] = words[1][i] = 0;
        const int distance = lane - 16;
        const float weight = abs(distance) <= radius ? gaussian_weight<float>(distance, sigma) : 0.0f,
                    scale = 65536.0f / warp_sum(weight), sum = warp_inclusive_sum(weight) * scale;
        const int rounded_sum = sum == sum ? __float2int_rn(sum) : 0, previous = __shfl_up_sync(~0u, rounded_sum, 1);
        int units = lane > 0 ? rounded_sum - previous : rounded_sum;
        const bool is_identity = __ballot_sync(~0u, units >= 65536) != 0;
        if (is_identity) units = distance == 0 ? 65535 : distance == 1;  // two digits hold at most 65535
        __syncwarp();
        if (abs(distance) <= max_mma_radius) {
            bytes(0)[centre + Step * distance] = static_cast<uint8>(units >> 8);
            bytes(1)[centre + Step * distance] = static_cast<uint8>(units);
        }
        __syncwarp();
        return is_identity;
    }

    // The digits of four adjacent distances.
    Word four(int digit, int distance) const {
        const int i = centre + distance;
        return __funnelshift_r(words[digit][i / 4], words[digit][i / 4 + 1], 8 * (i % 4));
    }
};

// The horizontal filter of 16 elements: the matrix `a` of products with the groups of 16 around and of them. An element
// of `Step` packed channels is filtered with its own channel.
template <int Step>
struct AcrossMatrix {
    static constexpr int margin = (Step * max_mma_radius + 15) / 16 * 16;  // elements before and after the 16
    static constexpr int groups = 1 + margin / 8;

    Word words[2][2 * groups];  // [high, low]

    AcrossMatrix(const DigitTable<Step>& weights, int lane) {
        for (int digit = 0; digit < 2; ++digit)
            for (int i = 0; i < 2 * groups; ++i) {
                const int element = (lane >> 2) + 8 * (i % 2), neighbour = 16 * (i / 2) + 4 * (lane & 3) - margin;
                words[digit][i] = weights.four(digit, neighbour - element);
            }
    }

    // The sums of the high or the low digits. source: the groups, from the first of them on.
    Accumulators filter(int digit, const Word* source) const {
        const Word* const a = words[digit];
        Accumulators sums = {};
        for (int i = 0; i + 1 < groups; i += 2)
            sums = multiply_add({a[2 * i], a[2 * i + 1], a[2 * i + 2], a[2 * i + 3]}, {source[i], source[i + 1]}, sums);
        return multiply_add({a[2 * groups - 2], a[2 * groups - 1]}, source[groups - 1], sums);
    }
};

// The vertical filter of eight rows: the matrix `b` of products with four chunks of eight rows, of which the oldest
// begins `max_mma_radius` rows above. Chunk i of every four is at the same place: a matrix for each of them that may be
// the newest. Bytes 0 and 1 of a word are rows 2 q and 2 q + 1 of one chunk, bytes 2 and 3 those of the next (q = lane
// % 4).
struct DownMatrix {
    Word words[2][4][2];  // [high, low][newest chunk][chunks 0 and 1, chunks 2 and 3]

    DownMatrix(const DigitTable<1>& weights, int lane) {
        const int distance = 2 * (lane & 3) - (lane >> 2) - max_mma_radius;  // of row 2 q of the oldest chunk
        for (int digit = 0; digit < 2; ++digit)
            for (int newest = 0; newest < 4; ++newest)
                for (int i = 0; i < 2; ++i) {
                    const auto two_rows = [&](int chunk) {
                        return weights.four(digit, distance + 8 * ((chunk + 3 - newest) % 4));
                    };
                    words[digit][newest][i] = permute_bytes(two_rows(2 * i), two_rows(2 * i + 1), low_halves);
                }
    }
};

// The horizontally filtered rows of four chunks: the matrix `a` of the vertical products of 16 columns. Values are in
// units of 2^-8 of a level, in two digits.
struct FilteredRows {
    Word high[4], low[4];

    // Puts a chunk in the place of chunk 0, 1, 2 or 3. high_sums, low_sums: by the high and by the low digits of the
    // weights.
    void put(const Accumulators& high_sums, const Accumulators& low_sums, int chunk) {
        for (int i = 0; i < 2; ++i) {  // columns g and g + 8 (g = lane / 4)
            const Word above = 256 * high_sums.items[2 * i] + low_sums.items[2 * i],
                       below = 256 * high_sums.items[2 * i + 1] + low_sums.items[2 * i + 1];
            const Word digits = permute_bytes(above, below, 0x5162);  // two high ones, then two low ones
            Word &high_word = high[(chunk & 2) + i], &low_word = low[(chunk & 2) + i];
            high_word = permute_bytes(high_word, digits, chunk & 1 ? 0x5410 : 0x3254);
            low_word = permute_bytes(low_word, digits, chunk & 1 ? 0x7610 : 0x3276);
        }
    }

    // Eight rows of the result, plus `offset`, in units of 2^-24 of a level. newest: the chunk that was put last.
    Accumulators filter_down(const DownMatrix& weights, int newest, int offset) const {
        const Word(&high_weights)[2] = weights.words[0][newest], (&low_weights)[2] = weights.words[1][newest];
        const Accumulators top = multiply_add(high, high_weights, {}),
                           middle = multiply_add(low, high_weights, multiply_add(high, low_weights, {})),
                           bottom = multiply_add(low, low_weights, {offset, offset, offset, offset});
        Accumulators out;
        for (int i = 0; i < 4; ++i) out.items[i] = 65536 * top.items[i] + 256 * middle.items[i] + bottom.items[i];
        return out;
    }
};

}  // namespace cuaug
