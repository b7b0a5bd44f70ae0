#pragma once

#include "ops/color.cuh"

// What a user's expression computes with: K numbers at once, each with its like. A plain number, or a `Value` of one,
// goes with all K.

namespace cuaug {

template <class R, int K>
struct Value {
    R c[K];

    Value() = default;
    Value(int number) {
        for (int k = 0; k < K; ++k) c[k] = R(number);
    }
    Value(float number) {
        for (int k = 0; k < K; ++k) c[k] = R(number);
    }
    Value(double number) {
        for (int k = 0; k < K; ++k) c[k] = R(number);
    }
    Value(const Pixel<R, K>& pixel) {
        for (int k = 0; k < K; ++k) c[k] = pixel.c[k];
    }
    template <int N, enable_if_t<N == 1 && K != 1> = 0>
    Value(const Value<R, N>& one) {
        for (int k = 0; k < K; ++k) c[k] = one.c[0];
    }

    Pixel<R, K> pixel() const {
        Pixel<R, K> out;
        for (int k = 0; k < K; ++k) out.c[k] = c[k];
        return out;
    }

    explicit operator bool() const {
        static_assert(K == 1,
                      "a condition is one number, not a pixel: compare a channel, or write select(condition, a, b)");
        return c[0] != R(0);
    }

    // `function` of each number of one value, two or three.
    template <class F>
    static Value each(const F& function, const Value& a) {
        Value out;
        for (int k = 0; k < K; ++k) out.c[k] = function(a.c[k]);
        return out;
    }
    template <class F>
    static Value each(const F& function, const Value& a, const Value& b) {
        Value out;
        for (int k = 0; k < K; ++k) out.c[k] = function(a.c[k], b.c[k]);
        return out;
    }
    template <class F>
    static Value each(const F& function, const Value& a, const Value& b, const Value& c) {
        Value out;
        for (int k = 0; k < K; ++k) out.c[k] = function(a.c[k], b.c[k], c.c[k]);
        return out;
    }

    friend Value operator+(const Value& a) { return a; }
    friend Value operator-(const Value& a) {
        return each([](R p) { return -p; }, a);
    }
    friend Value operator+(const Value& a, const Value& b) {
        return each([](R p, R q) { return p + q; }, a, b);
    }
    friend Value operator-(const Value& a, const Value& b) {
        return each([](R p, R q) { return p - q; }, a, b);
    }
    friend Value operator*(const Value& a, const Value& b) {
        return each([](R p, R q) { return p * q; }, a, b);
    }
    friend Value operator/(const Value& a, const Value& b) {
        return each([](R p, R q) { return p / q; }, a, b);
    }

    // 1 where it is so, else 0.
    friend Value operator<(const Value& a, const Value& b) {
        return each([](R p, R q) { return R(p < q); }, a, b);
    }
    friend Value operator>(const Value& a, const Value& b) {
        return each([](R p, R q) { return R(p > q); }, a, b);
    }
    friend Value operator<=(const Value& a, const Value& b) {
        return each([](R p, R q) { return R(p <= q); }, a, b);
    }
    friend Value operator>=(const Value& a, const Value& b) {
        return each([](R p, R q) { return R(p >= q); }, a, b);
    }
    friend Value operator==(const Value& a, const Value& b) {
        return each([](R p, R q) { return R(p == q); }, a, b);
    }
    friend Value operator!=(const Value& a, const Value& b) {
        return each([](R p, R q) { return R(p != q); }, a, b);
    }

    friend Value abs(const Value& a) {
        return each([](R p) { return fabs(p); }, a);
    }
    friend Value sqrt(const Value& a) {
        return each([](R p) { return sqrt(p); }, a);
    }
    friend Value exp(const Value& a) {
        return each([](R p) { return exp(p); }, a);
    }
    friend Value log(const Value& a) {
        return each([](R p) { return log(p); }, a);
    }
    friend Value sin(const Value& a) {
        return each([](R p) { return sin(p); }, a);
    }
    friend Value cos(const Value& a) {
        return each([](R p) { return cos(p); }, a);
    }
    friend Value tanh(const Value& a) {
        return each([](R p) { return tanh(p); }, a);
    }
    friend Value floor(const Value& a) {
        return each([](R p) { return floor(p); }, a);
    }
    friend Value ceil(const Value& a) {
        return each([](R p) { return ceil(p); }, a);
    }
    friend Value round(const Value& a) {
        return each([](R p) { return round(p); }, a);
    }
    friend Value atan2(const Value& a, const Value& b) {
        return each([](R p, R q) { return atan2(p, q); }, a, b);
    }
    friend Value pow(const Value& a, const Value& b) {
        return each([](R p, R q) { return pow(p, q); }, a, b);
    }
    // Written out, so that a NaN gives the second number with every compiler.
    friend Value min(const Value& a, const Value& b) {
        return each([](R p, R q) { return p < q ? p : q; }, a, b);
    }
    friend Value max(const Value& a, const Value& b) {
        return each([](R p, R q) { return p > q ? p : q; }, a, b);
    }
    friend Value clamp(const Value& a, const Value& low, const Value& high) { return min(max(a, low), high); }
    // Of the sign of b: mod(x, 16) counts 0..15 again and again.
    friend Value mod(const Value& a, const Value& b) {
        return each([](R p, R q) { return p - q * floor(p / q); }, a, b);
    }
    // From a, where share is 0, to b, where it is 1.
    friend Value mix(const Value& a, const Value& b, const Value& share) { return a + share * (b - a); }
    friend Value select(const Value& condition, const Value& a, const Value& b) {
        return each([](R chosen, R p, R q) { return chosen != R(0) ? p : q; }, condition, a, b);
    }
};

}  // namespace cuaug
