#pragma once

#include "draws/philox.cuh"

namespace cuaug {

// One sample's random numbers, one after the other, at a place of the recipe.
struct Random {
    Stream stream;
    unsigned int index;  // of the next four words
    Random4 words;
    int used;

    Random(const Stream& stream, unsigned int index) : stream(stream), index(index), words(), used(4) {}

    // The next four words: the rounds as a loop, as what runs once waits for its instructions.
    void renew() {
        words = stream.draw<1>(index++);
        used = 0;
    }

    unsigned int word() {
        if (used == 4) renew();
        const int at = used++;  // no index, for the words would be in memory
        return at == 0 ? words.word[0] : at == 1 ? words.word[1] : at == 2 ? words.word[2] : words.word[3];
    }

    // The last words of the four that are at hand are drawn again.
    void return_words(int count) { used -= count; }

    // In [0, 1), a multiple of 2^-32.
    double uniform() { return word() * (1.0 / 4294967296.0); }

    double uniform(double low, double high) { return low + (high - low) * uniform(); }

    // In 0 .. count - 1.
    int below(int count) { return static_cast<int>(uniform() * count); }

    // Box and Muller 1958.
    double normal() {
        const double radius = sqrt(-2.0 * log(1.0 - uniform())), angle = 6.283185307179586 * uniform();
        return radius * cos(angle);
    }

    // Marsaglia and Tsang 2000, for shapes below 1 with their remark 8.
    double gamma(double shape) {
        const double boost = shape < 1.0 ? pow(1.0 - uniform(), 1.0 / shape) : 1.0;
        const double d = (shape < 1.0 ? shape + 1.0 : shape) - 1.0 / 3.0, c = 1.0 / sqrt(9.0 * d);
        for (;;) {
            const double x = normal(), v = 1.0 + c * x, cube = v * v * v;
            if (v > 0.0 && log(1.0 - uniform()) < 0.5 * x * x + d - d * cube + d * log(cube)) return boost * d * cube;
        }
    }

    double beta(double a, double b) {
        double x = 0.0, y = 0.0;
#pragma unroll 1
        for (int i = 0; i < 2; ++i) x = y, y = gamma(i == 0 ? a : b);
        const double sum = x + y;
        return sum > 0.0 ? x / sum : uniform() * (a + b) < a ? 1.0 : 0.0;  // where both underflow, which of them is 0
    }
};

}  // namespace cuaug
