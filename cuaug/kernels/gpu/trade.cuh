#pragma once

#include "../sampler/bilinear_bytes.cuh"

// Planes of narrow elements are stored as words of adjacent elements. A thread makes four pixels of a row, eight columns apart, so two or four lanes trade what they
// made: in shuffles, as through shared memory it takes more than twice as many of its cycles, and memory that boxes have better use for.

namespace cuaug {

template <class T> constexpr int traders = 4 / static_cast<int>(sizeof(T));

// A channel of four pixels, as a pixel of four channels.
template <class R, int K>
inline Pixel<R, 4> channel_of(const Pixel<R, K> (&pixels)[4], int k) { return {{pixels[0].c[k], pixels[1].c[k], pixels[2].c[k], pixels[3].c[k]}}; }
template <class T, int K>
inline Texel<T, 4> channel_of(const Texel<T, K> (&pixels)[4], int k) { return {{pixels[0].c[k], pixels[1].c[k], pixels[2].c[k], pixels[3].c[k]}}; }
template <int K>
inline Levels<4> channel_of(const Levels<K> (&pixels)[4], int k) { return {{pixels[0].of[k], pixels[1].of[k], pixels[2].of[k], pixels[3].of[k]}}; }

// Columns of the elements that a lane has then: of the first, from that of eight lanes' first pixel; of the others, from the first.
template <class T>
inline int traded_column(int lane) { return (lane & (8 - traders<T>)) + 8 * (lane & (traders<T> - 1)); }
template <class T>
inline int adjacent(int i) { return sizeof(T) == 2 ? 16 * (i / 2) + i % 2 : i; }

template <class T>
inline Stored<T, 4> traded(Stored<T, 4> line, int lane) {
    auto trade = [&](int apart, int low, int high) {
        for (Word& word : line.word) word = __byte_perm(word, __shfl_xor_sync(0xffffffffu, word, apart), lane & apart ? high : low);
    };
    trade(traders<T> / 2, 0x5410, 0x3276);
    if (traders<T> > 2) trade(1, 0x6240, 0x3715);
    return line;
}

}  // namespace cuaug
