#pragma once

#include "jpeg/dct.cuh"
#include "jpeg/quantization.cuh"
#include "simd8.hpp"

// Encodes and decodes one block of 8x8 samples, eight of a row or column at a time.

namespace cuaug {

using Int8 = Simd8<int>::type;

// The 64 steps by which coefficients are quantized, and the steps' reciprocals.
struct QuantizationTable {
    int step[64], reciprocal[64];

    void fill(const uint8* entries, int quality) {
        for (int i = 0; i < 64; ++i) {
            const QuantizationStep entry = quantization_step(entries[i], quality);
            step[i] = entry.step;
            reciprocal[i] = entry.reciprocal;
        }
    }
};

struct alignas(32) IntBlock {
    int values[64];
};

inline void transpose_block(IntBlock& block) {
    const IntBlock copy = block;
    transpose(copy.values, lanes, block.values, lanes);
}

// Calls `transform` with the eight rows of the block.
template <class Transform>
inline void transform_rows(IntBlock& block, const Transform& transform) {
    Int8 rows[8];
    memcpy(rows, &block, sizeof(block));
    transform(rows);
    memcpy(&block, rows, sizeof(block));
}

// The block as a JPEG decoder returns it: transformed, quantized, and transformed back. Samples are -128..127; a pitch
// is the distance between adjacent rows.
__attribute__((noinline)) inline void code_block(const int* in, long long in_pitch, const QuantizationTable& table,
                                                 signed char* out, long long out_pitch) {
    IntBlock block;
    transpose(in, in_pitch, block.values, lanes);
    transform_rows(block, [](auto& columns) { forward_dct<DctPass::first>(columns); });
    transpose_block(block);
    transform_rows(block, [&](auto& rows) {
        forward_dct<DctPass::second>(rows);
        for (int y = 0; y < 8; ++y) {
            Int8 step, reciprocal;
            memcpy(&step, table.step + 8 * y, sizeof(step));
            memcpy(&reciprocal, table.reciprocal + 8 * y, sizeof(reciprocal));
            quantize(rows[y], step, reciprocal);
        }
        inverse_dct<DctPass::first>(rows);
    });
    transpose_block(block);
    transform_rows(block, [](auto& columns) { inverse_dct<DctPass::second>(columns); });
    transpose_block(block);
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x) {
            const int value = block.values[8 * y + x];
            out[y * out_pitch + x] = static_cast<signed char>(value < -128 ? -128 : value > 127 ? 127 : value);
        }
}

}  // namespace cuaug
