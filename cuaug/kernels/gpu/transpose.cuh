#pragma once

#include "samplers/bilinear_u8.cuh"

// Planar output of elements narrower than 32 bits is stored as words of adjacent elements. A thread makes four pixels
// of a row, eight columns apart, so as many lanes as a word has elements transpose their elements with shuffles: this
// keeps shared memory busy for less than half as long as writing and reading it, and leaves that memory to source
// boxes.

namespace cuaug {

// Channel k of four pixels, as one pixel of four channels.
template <template <class, int> class PixelType, class T, int K>
inline PixelType<T, 4> channel_of(const PixelType<T, K> (&pixels)[4], int k) {
    return {{pixels[0].c[k], pixels[1].c[k], pixels[2].c[k], pixels[3].c[k]}};
}
template <int K>
inline BiasedU8<4> channel_of(const BiasedU8<K> (&pixels)[4], int k) {
    return {{pixels[0].c[k], pixels[1].c[k], pixels[2].c[k], pixels[3].c[k]}};
}

// The column of a lane's first element after the transposition, counted from the first column of its patch.
template <class T>
inline int transposed_column(int lane) {
    constexpr int lanes = elements_per_word<T>;
    return (lane & (8 - lanes)) + 8 * (lane & (lanes - 1));
}

// The column of a lane's element i, counted from the column of its first element: the elements of a word are adjacent,
// and two words of 16-bit elements are 16 columns apart. Pixels that are stored in pairs have the same columns.
template <class T>
constexpr int element_column(int i) {
    return sizeof(T) == 2 ? 16 * (i / 2) + i % 2 : i;
}

// A lane's part in the transposition, the same for all rows.
template <class T>
struct Transposition {
    static constexpr int halves_distance = sizeof(T) == 1 ? 2 : 1;  // of the lanes that exchange halves
    int halves_selector, bytes_selector;  // of __byte_perm: halves or bytes of both lanes' words that this lane keeps

    explicit Transposition(int lane)
        : halves_selector(opaque(lane & halves_distance ? 0x3276 : 0x5410)),
          bytes_selector(sizeof(T) == 1 ? opaque(lane & 1 ? 0x3715 : 0x6240) : 0) {}

    WordPixel<T, 4> operator()(WordPixel<T, 4> elements) const {
        // The lower parts of both lanes' words become one lane's word, the higher parts the other's.
        auto exchange = [&](int distance, int selector) {
            for (Word& word : elements.word)
                word = __byte_perm(word, __shfl_xor_sync(0xffffffffu, word, distance), selector);
        };
        exchange(halves_distance, halves_selector);
        if (sizeof(T) == 1) exchange(1, bytes_selector);
        return elements;
    }
};

}  // namespace cuaug
