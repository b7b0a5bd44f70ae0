#pragma once

#include "dtype.cuh"
#include "jpeg/dct.cuh"

// Quantization of JPEG: the example tables of ITU-T T.81, annex K, scaled by a quality as libjpeg does.

namespace cuaug {

constexpr uint8 luma_quantization[64] = {
    16, 11, 10, 16, 24,  40,  51,  61,   //
    12, 12, 14, 19, 26,  58,  60,  55,   //
    14, 13, 16, 24, 40,  57,  69,  56,   //
    14, 17, 22, 29, 51,  87,  80,  62,   //
    18, 22, 37, 56, 68,  109, 103, 77,   //
    24, 35, 55, 64, 81,  104, 113, 92,   //
    49, 64, 78, 87, 103, 121, 120, 101,  //
    72, 92, 95, 98, 112, 100, 103, 99,
};
constexpr uint8 chroma_quantization[64] = {
    17, 18, 24, 47, 99, 99, 99, 99,  //
    18, 21, 26, 66, 99, 99, 99, 99,  //
    24, 26, 56, 99, 99, 99, 99, 99,  //
    47, 66, 99, 99, 99, 99, 99, 99,  //
    99, 99, 99, 99, 99, 99, 99, 99,  //
    99, 99, 99, 99, 99, 99, 99, 99,  //
    99, 99, 99, 99, 99, 99, 99, 99,  //
    99, 99, 99, 99, 99, 99, 99, 99,
};

constexpr int reciprocal_bits = 20;

// The step between the values that a coefficient may have, and 2^20 / step, rounded up.
struct QuantizationStep {
    int step;
    int reciprocal;
};

// `entry`: of a table for quality 50.
inline QuantizationStep quantization_step(int entry, int quality) {
    const int percent = quality < 50 ? 5000 / quality : 200 - 2 * quality, scaled = (entry * percent + 50) / 100,
              step = scaled < 1     ? 1
                     : scaled > 255 ? 255
                                    : scaled;
    return {step, ((1 << reciprocal_bits) + step - 1) / step};
}

// The nearest multiple of a step to a coefficient of `forward_dct`; ties are rounded away from 0. The division is exact
// for coefficients of 8-bit samples: (magnitude / 8 + step / 2) * step < 2^20.
template <class V>
inline void quantize(V& coefficient, const V& step, const V& reciprocal) {
    const V magnitude = coefficient < 0 ? -coefficient : coefficient;
    const V rounded = (magnitude + (step << (coefficient_scale - 1))) >> coefficient_scale;
    const V multiple = ((rounded * reciprocal) >> reciprocal_bits) * step;
    coefficient = coefficient < 0 ? -multiple : multiple;
}

// Quality 1..100 of a sample, or 0 for a sample that stays as it is.
inline int jpeg_quality(double quality) {
    if (!(quality >= 1.0)) return 0;
    return quality < 100.0 ? static_cast<int>(quality) : 100;
}

}  // namespace cuaug
