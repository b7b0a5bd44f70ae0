#pragma once

#include "samplers/bilinear_u8.cuh"

// Planes of narrow elements are stored as words of adjacent elements. A thread makes four pixels of a row, eight
// columns apart, so as many lanes as a word has elements transpose what they made: in shuffles, which keep shared
// memory busy for less than half as long as to write it there and to read it, and leave that memory to boxes.

namespace cuaug {

// A channel of four pixels, as a pixel of four channels.
template <template <class, int> class Of, class T, int K>
inline Of<T, 4> channel_of(const Of<T, K> (&pixels)[4], int k) {
    return {{pixels[0].c[k], pixels[1].c[k], pixels[2].c[k], pixels[3].c[k]}};
}
template <int K>
inline BiasedU8<4> channel_of(const BiasedU8<K> (&pixels)[4], int k) {
    return {{pixels[0].of[k], pixels[1].of[k], pixels[2].of[k], pixels[3].of[k]}};
}

// The column of a lane's first element afterwards, from its eight lanes' first pixel on.
template <class T>
inline int transposed_column(int lane) {
    constexpr int lanes = elements_per_word<T>;
    return (lane & (8 - lanes)) + 8 * (lane & (lanes - 1));
}

// Its others, from there on; also those of pixels made in pairs.
template <class T>
constexpr int adjacent(int i) {
    return sizeof(T) == 2 ? 16 * (i / 2) + i % 2 : i;
}

// A lane's part in the transposition, the same for all rows.
template <class T>
struct Transposition {
    static constexpr int apart = sizeof(T) == 1 ? 2 : 1;  // lanes that trade halves
    int halves, bytes;  // selectors: which ones it keeps of its own word and of the other lane's

    explicit Transposition(int lane)
        : halves(opaque(lane & apart ? 0x3276 : 0x5410)),
          bytes(sizeof(T) == 1 ? opaque(lane & 1 ? 0x3715 : 0x6240) : 0) {}

    WordPixel<T, 4> operator()(WordPixel<T, 4> line) const {
        // Words of two lanes become the lower parts of both in one, the higher parts in the other.
        auto trade = [&](int apart, int kept) {
            for (Word& word : line.word) word = __byte_perm(word, __shfl_xor_sync(0xffffffffu, word, apart), kept);
        };
        trade(apart, halves);
        if (sizeof(T) == 1) trade(1, bytes);
        return line;
    }
};

}  // namespace cuaug
