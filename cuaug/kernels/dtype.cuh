#pragma once

#include "type_list.cuh"

// Element types, the types that pixels are computed in, and the conversions between them, which round and clamp.
// Functions that are only declared here have a definition for the GPU (gpu/convert.cuh) and one for the CPU
// (cpu/loops/convert.hpp).

namespace cuaug {

using uint8 = unsigned char;
using uint16 = unsigned short;
using int16 = short;
using int32 = int;
using int64 = long long;
using float32 = float;
using float64 = double;

struct float16 {
    unsigned short bits;
};
struct bfloat16 {
    unsigned short bits;
};

// Images have a dtype of ImageDtypes. Label images may have any dtype of Dtypes: their pixels are only moved.
using ImageDtypes = TypeList<uint8, uint16, int16, float16, bfloat16, float32, float64>;
using Dtypes = ImageDtypes::Append<int32, int64>;

float to_float(float16 value);
float16 to_float16(float value);
bfloat16 to_bfloat16(float value);
// Clamps to low..high; a NaN becomes `low`.
float clamp_nan_to_low(float value, float low, float high);
// CuPy compiles with -ftz: a static_cast then takes three more instructions, which flush denormals. These conversions
// keep denormals.
float to_float32(double value);
double to_float64(float value);

inline float bits_to_float(unsigned int bits) {
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

inline unsigned int float_to_bits(float value) {
    unsigned int bits;
    memcpy(&bits, &value, 4);
    return bits;
}

inline float to_float(bfloat16 value) { return bits_to_float(static_cast<unsigned int>(value.bits) << 16); }

// Rounds to nearest, ties to even. A NaN gets a set mantissa bit: rounding its bits could make them those of infinity.
inline bfloat16 round_to_bfloat16(float value) {
    const unsigned int bits = float_to_bits(value);
    if (value != value) return {static_cast<unsigned short>((bits >> 16) | 0x40u)};
    return {static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

template <class T>
struct ComputeTypeOf {
    using type = float;
};
template <>
struct ComputeTypeOf<float64> {
    using type = double;
};
template <class T>
using ComputeType = typename ComputeTypeOf<T>::type;

template <class T>
struct IntegerLimits;
template <>
struct IntegerLimits<uint8> {
    static constexpr float low = 0.0f, high = 255.0f;
};
template <>
struct IntegerLimits<uint16> {
    static constexpr float low = 0.0f, high = 65535.0f;
};
template <>
struct IntegerLimits<int16> {
    static constexpr float low = -32768.0f, high = 32767.0f;
};

// The next three are those of <type_traits>: this code includes no standard headers.
template <class A, class B>
constexpr bool is_same_v = false;
template <class A>
constexpr bool is_same_v<A, A> = true;

template <bool, class A, class B>
struct Conditional {
    using type = A;
};
template <class A, class B>
struct Conditional<false, A, B> {
    using type = B;
};
template <bool condition, class A, class B>
using conditional_t = typename Conditional<condition, A, B>::type;

template <bool>
struct EnableIf {};
template <>
struct EnableIf<true> {
    using type = int;
};
template <bool condition>
using enable_if_t = typename EnableIf<condition>::type;

// A number as a type.
template <int N>
struct Int {
    static constexpr int value = N;
};

// Ops see pixels divided by this number: the largest value of the dtype of integer images, 1 for floats; also 1 for
// int32 and int64, on which no op runs.
template <class T>
constexpr float max_value = 1.0f;
template <>
inline constexpr float max_value<uint8> = 255.0f;
template <>
inline constexpr float max_value<uint16> = 65535.0f;
template <>
inline constexpr float max_value<int16> = 32767.0f;

template <class R, class T>
inline R to_compute(T value) {
    if constexpr (is_same_v<T, float16> || is_same_v<T, bfloat16>)
        return static_cast<R>(to_float(value));
    else
        return static_cast<R>(value);
}

// Integer pixels are rounded half to even and clamped; a NaN becomes 0. For unsigned types clamp_nan_to_low makes it 0,
// their lower bound. The fill of int32 and int64 labels is rounded, but not clamped.
template <class T, class R>
inline T saturate_cast(R value) {
    if constexpr (is_same_v<T, float16>)
        return to_float16(static_cast<float>(value));
    else if constexpr (is_same_v<T, bfloat16>)
        return to_bfloat16(static_cast<float>(value));
    else if constexpr (is_same_v<T, float32> || is_same_v<T, float64>)
        return static_cast<T>(value);
    else if constexpr (is_same_v<T, int32> || is_same_v<T, int64>)
        return static_cast<T>(rint(value));
    else if (IntegerLimits<T>::low < 0.0f && value != value)
        return T(0);
    else
        return static_cast<T>(
            rintf(clamp_nan_to_low(static_cast<float>(value), IntegerLimits<T>::low, IntegerLimits<T>::high)));
}

// A value keeps its bits if the type does not change: labels beyond 2^24 would not survive a conversion to float.
template <class Out, class In>
inline Out convert(In value) {
    if constexpr (is_same_v<Out, In>)
        return value;
    else
        return saturate_cast<Out>(to_compute<ComputeType<Out>>(value));
}

}  // namespace cuaug
