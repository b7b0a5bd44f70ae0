#pragma once

// Element types, the type arithmetic runs in, and the one place where a value is rounded and clamped.
// The conversions to and from 16 bits are declared here and defined once per compiler (gpu/convert.cuh,
// cpu/convert.hpp).

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

float to_float(float16 value);
float16 to_float16(float value);
bfloat16 to_bfloat16(float value);
// Not below `low` nor above `high`; a NaN becomes `low`.
float between(float value, float low, float high);
// Conversions without the flush of denormals that CuPy's -ftz adds, three instructions each.
float narrowed(double value);
double widened(float value);

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

// Round to nearest, ties to even; a NaN keeps a set mantissa bit instead of rounding up to infinity.
inline bfloat16 nearest_bfloat16(float value) {
    const unsigned int bits = float_to_bits(value);
    if (value != value) return {static_cast<unsigned short>((bits >> 16) | 0x40u)};
    return {static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

template <class T>
struct Arithmetic {
    using type = float;
};
template <>
struct Arithmetic<float64> {
    using type = double;
};
template <class T>
using Real = typename Arithmetic<T>::type;

template <class T>
struct Range;
template <>
struct Range<uint8> {
    static constexpr float low = 0.0f, high = 255.0f;
};
template <>
struct Range<uint16> {
    static constexpr float low = 0.0f, high = 65535.0f;
};
template <>
struct Range<int16> {
    static constexpr float low = -32768.0f, high = 32767.0f;
};

template <class A, class B>
struct Same {
    static constexpr bool value = false;
};
template <class A>
struct Same<A, A> {
    static constexpr bool value = true;
};

template <bool, class A, class B>
struct Select {
    using type = A;
};
template <class A, class B>
struct Select<false, A, B> {
    using type = B;
};
// A number, as a type.
template <int N>
struct Count {
    static constexpr int value = N;
};

// What counts as full scale: colour ops see pixels as shares of it.
template <class T>
constexpr float white = 1.0f;
template <>
constexpr float white<uint8> = 255.0f;
template <>
constexpr float white<uint16> = 65535.0f;
template <>
constexpr float white<int16> = 32767.0f;

template <class R, class T>
inline R to_real(T value) {
    if constexpr (Same<T, float16>::value || Same<T, bfloat16>::value)
        return static_cast<R>(to_float(value));
    else
        return static_cast<R>(value);
}

// Half to even, then clamp. A NaN becomes 0 in an integer image: by fmax where that is the lower bound.
template <class T, class R>
inline T from_real(R value) {
    if constexpr (Same<T, float16>::value)
        return to_float16(static_cast<float>(value));
    else if constexpr (Same<T, bfloat16>::value)
        return to_bfloat16(static_cast<float>(value));
    else if constexpr (Same<T, float32>::value || Same<T, float64>::value)
        return static_cast<T>(value);
    else if constexpr (Same<T, int32>::value || Same<T, int64>::value)
        return static_cast<T>(value);
    else if (Range<T>::low < 0.0f && value != value)
        return T(0);
    else
        return static_cast<T>(rintf(between(static_cast<float>(value), Range<T>::low, Range<T>::high)));
}

// A value keeps its bits when the type does not change, so that labels beyond 2^24 survive.
template <class Out, class In>
inline Out convert(In value) {
    if constexpr (Same<Out, In>::value)
        return value;
    else
        return from_real<Out>(to_real<Real<Out>>(value));
}

}  // namespace cuaug
