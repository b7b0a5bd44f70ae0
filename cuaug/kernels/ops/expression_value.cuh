#pragma once

#include "ops/color.cuh"

// The number type of a user's expression: K numbers, combined element by element. A plain number, or an ExpressionValue
// of one, is combined with all K.

namespace cuaug {

template <class R, int K>
struct ExpressionValue {
    R c[K];

    ExpressionValue() = default;
    ExpressionValue(int number) {
        for (int k = 0; k < K; ++k) c[k] = R(number);
    }
    ExpressionValue(float number) {
        for (int k = 0; k < K; ++k) c[k] = R(number);
    }
    ExpressionValue(double number) {
        for (int k = 0; k < K; ++k) c[k] = R(number);
    }
    ExpressionValue(const Pixel<R, K>& pixel) {
        for (int k = 0; k < K; ++k) c[k] = pixel.c[k];
    }
    template <int N, enable_if_t<N == 1 && K != 1> = 0>
    ExpressionValue(const ExpressionValue<R, N>& number) {
        for (int k = 0; k < K; ++k) c[k] = number.c[0];
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

    // Applies `function` to the numbers of one, two or three values.
    template <class F>
    static ExpressionValue map(const F& function, const ExpressionValue& a) {
        ExpressionValue out;
        for (int k = 0; k < K; ++k) out.c[k] = function(a.c[k]);
        return out;
    }
    template <class F>
    static ExpressionValue map(const F& function, const ExpressionValue& a, const ExpressionValue& b) {
        ExpressionValue out;
        for (int k = 0; k < K; ++k) out.c[k] = function(a.c[k], b.c[k]);
        return out;
    }
    template <class F>
    static ExpressionValue map(const F& function, const ExpressionValue& a, const ExpressionValue& b,
                               const ExpressionValue& c) {
        ExpressionValue out;
        for (int k = 0; k < K; ++k) out.c[k] = function(a.c[k], b.c[k], c.c[k]);
        return out;
    }

    friend ExpressionValue operator+(const ExpressionValue& a) { return a; }
    friend ExpressionValue operator-(const ExpressionValue& a) {
        return map([](R p) { return -p; }, a);
    }
    friend ExpressionValue operator+(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return p + q; }, a, b);
    }
    friend ExpressionValue operator-(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return p - q; }, a, b);
    }
    friend ExpressionValue operator*(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return p * q; }, a, b);
    }
    friend ExpressionValue operator/(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return p / q; }, a, b);
    }

    // 1 where the comparison is true, else 0.
    friend ExpressionValue operator<(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return R(p < q); }, a, b);
    }
    friend ExpressionValue operator>(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return R(p > q); }, a, b);
    }
    friend ExpressionValue operator<=(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return R(p <= q); }, a, b);
    }
    friend ExpressionValue operator>=(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return R(p >= q); }, a, b);
    }
    friend ExpressionValue operator==(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return R(p == q); }, a, b);
    }
    friend ExpressionValue operator!=(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return R(p != q); }, a, b);
    }

    friend ExpressionValue abs(const ExpressionValue& a) {
        return map([](R p) { return fabs(p); }, a);
    }
    friend ExpressionValue sqrt(const ExpressionValue& a) {
        return map([](R p) { return sqrt(p); }, a);
    }
    friend ExpressionValue exp(const ExpressionValue& a) {
        return map([](R p) { return exp(p); }, a);
    }
    friend ExpressionValue log(const ExpressionValue& a) {
        return map([](R p) { return log(p); }, a);
    }
    friend ExpressionValue sin(const ExpressionValue& a) {
        return map([](R p) { return sin(p); }, a);
    }
    friend ExpressionValue cos(const ExpressionValue& a) {
        return map([](R p) { return cos(p); }, a);
    }
    friend ExpressionValue tanh(const ExpressionValue& a) {
        return map([](R p) { return tanh(p); }, a);
    }
    friend ExpressionValue floor(const ExpressionValue& a) {
        return map([](R p) { return floor(p); }, a);
    }
    friend ExpressionValue ceil(const ExpressionValue& a) {
        return map([](R p) { return ceil(p); }, a);
    }
    friend ExpressionValue round(const ExpressionValue& a) {
        return map([](R p) { return round(p); }, a);
    }
    friend ExpressionValue atan2(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return atan2(p, q); }, a, b);
    }
    friend ExpressionValue pow(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return pow(p, q); }, a, b);
    }
    // Written as comparisons, so that every compiler returns b if a or b is NaN.
    friend ExpressionValue min(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return p < q ? p : q; }, a, b);
    }
    friend ExpressionValue max(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return p > q ? p : q; }, a, b);
    }
    friend ExpressionValue clamp(const ExpressionValue& a, const ExpressionValue& low, const ExpressionValue& high) {
        return min(max(a, low), high);
    }
    // With the sign of b: for whole x, mod(x, 16) repeats 0..15.
    friend ExpressionValue mod(const ExpressionValue& a, const ExpressionValue& b) {
        return map([](R p, R q) { return p - q * floor(p / q); }, a, b);
    }
    // a where weight is 0, b where it is 1.
    friend ExpressionValue mix(const ExpressionValue& a, const ExpressionValue& b, const ExpressionValue& weight) {
        return a + weight * (b - a);
    }
    friend ExpressionValue select(const ExpressionValue& condition, const ExpressionValue& a,
                                  const ExpressionValue& b) {
        return map([](R flag, R p, R q) { return flag != R(0) ? p : q; }, condition, a, b);
    }
};

}  // namespace cuaug
