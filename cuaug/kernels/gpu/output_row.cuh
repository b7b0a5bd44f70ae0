#pragma once

#include "samplers/filter.cuh"

namespace cuaug {

// Pixels without infinities and NaN: a weight of 0 hides any value.
template <class T>
constexpr bool is_integer_level = is_same_v<T, uint8> || is_same_v<T, uint16> || is_same_v<T, int16>;

template <class R>
struct alignas(16) FourWeights {
    R items[4];
};

// An output row: its span, and the weights of its first source rows.
template <class R>
struct OutputRow {
    static constexpr int max_taps = sizeof(R) == 4 ? 8 : 4;
    FourWeights<R> weight[max_taps / 4];
    SourceSpan<R> span;
};

}  // namespace cuaug
