#pragma once

#include "draws/philox.cuh"

namespace cuaug {

// A sequence of random numbers of one sample, for one draw of the recipe.
struct Random {
    PhiloxStream stream;
    unsigned int index;  // of the next four words
    PhiloxBlock words;
    int used;  // of the four words

    Random(const PhiloxStream& stream, unsigned int index) : stream(stream), index(index), words(), used(4) {}

    // Draws the next four words. The rounds are a loop: code that runs once waits for its instructions to be fetched.
    void refill() {
        words = stream.draw<1>(index++);
        used = 0;
    }

    unsigned int word() {
        if (used == 4) refill();
        const int i = used++;
        // Not words.word[i]: an index would place the words in local memory.
        return i == 0 ? words.word[0] : i == 1 ? words.word[1] : i == 2 ? words.word[2] : words.word[3];
    }

    // Makes the last `count` words that were taken available again: at most those of the current four.
    void return_words(int count) { used -= count; }

    // In [0, 1), a multiple of 2^-32.
    double uniform() { return word() * (1.0 / 4294967296.0); }

    double uniform(double low, double high) { return low + (high - low) * uniform(); }

    // In 0 .. count - 1.
    int randint(int count) { return static_cast<int>(uniform() * count); }

    // Box and Muller 1958.
    double normal() {
        const double radius = sqrt(-2.0 * log(1.0 - uniform())), angle = 6.283185307179586 * uniform();
        return radius * cos(angle);
    }

    // Marsaglia and Tsang 2000; for shapes below 1 with remark 8 of the paper.
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
        // Where both underflow, the result is 1 with probability a / (a + b), else 0.
        return sum > 0.0 ? x / sum : uniform() * (a + b) < a ? 1.0 : 0.0;
    }
};

}  // namespace cuaug
