#pragma once

#include "gpu/integer_mma.cuh"
#include "gpu/reduce.cuh"
#include "records/gaussian_blur.cuh"

// The weights of a Gaussian as matrices of bytes, for gaussian_blur_u8 and gaussian_blur_packed. A weight is an integer
// in units of 2^-16, split into two digits of base 256: 256 * high + low.

namespace cuaug {

constexpr int max_mma_radius = 12;    // the largest radius of a kernel, in pixels, for which the matrices have room
constexpr int max_mma_distance = 15;  // the largest horizontal radius in elements

// Both digits of the weights of one axis, in shared memory, by the offset from the central element: 0 where there is no
// weight. Adjacent weights are `Step` elements apart.
template <int Step>
struct DigitTable {
    // center: the index of offset 0. Up to 48 elements are written on both sides; beyond `max_mma_distance` they are 0.
    static constexpr int center = 64, word_count = 2 * center / 4 + 1;

    Word words[2][word_count];  // [high, low], four bytes each

    uint8* bytes(int digit) { return reinterpret_cast<uint8*>(words[digit]); }

    // Called by all lanes of one warp. For each pixel, rounds the sum of the weights up to and including that pixel's
    // to the nearest integer. A weight is the difference of two adjacent sums, so that all weights add up to exactly
    // 2^16. A NaN sigma makes all weights 0.
    //
    // Returns whether one weight is 2^16: then the filter changes nothing. As two digits hold at most 2^16 - 1, the
    // table gives the remaining unit to the next pixel: it keeps the sum, and so the value of a constant image.
    bool compute(int radius, double sigma, int lane) {
        for (int i = lane; i < word_count; i += 32) words[0][i] = words[1][i] = 0;
        const int pixel = lane - 16;
        const float weight = abs(pixel) <= radius ? gaussian_weight<float>(pixel, sigma) : 0.0f,
                    scale = 65536.0f / warp_sum(weight), sum = warp_inclusive_sum(weight) * scale;
        const int rounded_sum = sum == sum ? __float2int_rn(sum) : 0, previous = __shfl_up_sync(~0u, rounded_sum, 1);
        int units = lane > 0 ? rounded_sum - previous : rounded_sum;
        const bool is_identity = __ballot_sync(~0u, units >= 65536) != 0;
        if (is_identity) units = pixel == 0 ? 65535 : pixel == 1;
        __syncwarp();
        if (abs(pixel) <= max_mma_radius) {
            bytes(0)[center + Step * pixel] = static_cast<uint8>(units >> 8);
            bytes(1)[center + Step * pixel] = static_cast<uint8>(units);
        }
        __syncwarp();
        return is_identity;
    }

    // The digits of four adjacent elements, the first at `offset`.
    Word four_digits(int digit, int offset) const {
        const int i = center + offset;
        return __funnelshift_r(words[digit][i / 4], words[digit][i / 4 + 1], 8 * (i % 4));
    }
};

// The horizontal filter of 16 adjacent elements as a matrix A: [16 elements of the result, the elements they are made
// of], which are the 16 and `margin` more on both sides. If pixels have `Step` packed channels, an element is made
// of elements at multiples of `Step` from it. B and the product are transposed images: [elements, 8
// rows of the image].
//
// The leftmost element of the margin serves to round: it has the value 128 in place of the source's, and both digits of
// its weight are 1. This adds half a level, which rounds the result of the blur to the nearest level, and 2^-9 of a
// level, which rounds the rows between the filters to the nearest multiple of 2^-8 of a level.
struct HorizontalDigits {
    static constexpr int margin = 16, groups = 3;  // groups of 16 elements: left, result, right
    static_assert(max_mma_distance < margin);

    Word words[2][2 * groups];  // [high, low]
    int leftmost_selector;      // of `permute_bytes`: replaces the leftmost element, if the lane holds it

    template <int Step>
    HorizontalDigits(const DigitTable<Step>& table, int lane) {
        for (int digit = 0; digit < 2; ++digit)
            for (int i = 0; i < 2 * groups; ++i) {
                const int element = (lane >> 2) + 8 * (i % 2), neighbour = 16 * (i / 2) + 4 * (lane & 3) - margin;
                words[digit][i] = table.four_digits(digit, neighbour - element);
                if (neighbour == -margin) words[digit][i] |= 1;
            }
        leftmost_selector = (lane & 3) == 0 ? 0x3214 : 0x3210;
    }

    // The product of one digit of the weights (0: high, 1: low) with the lane's words of B, one for each group.
    Accumulators filter(int digit, const Word* source) const {
        const Word* const a = words[digit];
        const Word left = permute_bytes(source[0], 128, leftmost_selector);
        const Accumulators sums = multiply_add({a[0], a[1], a[2], a[3]}, {left, source[1]}, {});
        return multiply_add({a[4], a[5]}, source[2], sums);
    }
};

// The vertical filter of eight rows as a matrix B: [rows of four chunks, 8 rows of the result]. A chunk is eight rows;
// the oldest begins `max_mma_radius` rows above the result. The last four chunks are in a ring of four slots, so there
// is a matrix for each slot that may hold the newest.
//
// k, q = lane % 4 and g = lane / 4 are those of integer_mma.cuh. The order of k is chosen so that a lane's sums of the
// horizontal filter are its bytes of A here, without shuffles: in each block of 16 values of k, which holds two chunks,
// number 4 q + j is row 2 q + j % 2 of the first chunk (j < 2) or of the second.
struct alignas(16) VerticalDigits {
    Word words[2][2];  // [high, low][slots 0 and 1, slots 2 and 3]

    VerticalDigits() = default;
    // newest: the slot of the newest chunk.
    VerticalDigits(const DigitTable<1>& table, int newest, int lane) {
        const int offset = 2 * (lane & 3) - max_mma_radius - (lane >> 2);  // of row 2 q of the oldest chunk
        for (int digit = 0; digit < 2; ++digit)
            for (int i = 0; i < 2; ++i) {
                // Of these four digits, the first two are used.
                const auto digits_of = [&](int slot) {
                    return table.four_digits(digit, offset + 8 * ((slot + 3 - newest) % 4));
                };
                words[digit][i] = permute_bytes(digits_of(2 * i), digits_of(2 * i + 1), low_halves);
            }
    }
};

// The horizontally filtered rows of four chunks, of 16 columns: the matrix A of the vertical filter. Values are in
// units of 2^-8 of a level, split into two digits of base 256.
struct FilteredChunks {
    Word high[4], low[4];

    // high_sums, low_sums: the products with the high and with the low digits of the weights.
    void put(const Accumulators& high_sums, const Accumulators& low_sums, int slot) {
        for (int i = 0; i < 2; ++i) {  // columns g and g + 8
            const Word even_row = 256 * high_sums.items[2 * i] + low_sums.items[2 * i],
                       odd_row = 256 * high_sums.items[2 * i + 1] + low_sums.items[2 * i + 1];
            // Byte 2 of both rows, and byte 1 of both: without byte 0, the sums are multiples of 2^-8 of a level.
            const Word digits = permute_bytes(even_row, odd_row, 0x5162);
            Word &high_word = high[(slot & 2) + i], &low_word = low[(slot & 2) + i];
            high_word = permute_bytes(high_word, digits, slot & 1 ? 0x5410 : 0x3254);
            low_word = permute_bytes(low_word, digits, slot & 1 ? 0x7610 : 0x3276);
        }
    }

    // Eight rows of the result, plus half a level, in units of 2^-24 of a level: unsigned numbers of 32 bits.
    Accumulators filter(const VerticalDigits& weights) const {
        const Word(&high_weights)[2] = weights.words[0], (&low_weights)[2] = weights.words[1];
        const Accumulators high_high = multiply_add(high, high_weights, {}),
                           mixed = multiply_add(low, high_weights, multiply_add(high, low_weights, {})),
                           low_low = multiply_add(low, low_weights, {});
        Accumulators out;
        for (int i = 0; i < 4; ++i)
            out.items[i] = static_cast<int>(65536u * high_high.items[i] + 256u * mixed.items[i] + low_low.items[i]);
        return out;
    }
};

}  // namespace cuaug
