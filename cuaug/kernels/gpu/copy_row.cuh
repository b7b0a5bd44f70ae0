#pragma once

#include "gpu/word_pixel.cuh"

// `Lanes` lanes of a warp copy or fill bytes of a row, which lie anywhere in memory: whole words of the destination,
// then the bytes before and after them. `lane`: the caller's number among them.

namespace cuaug {

inline int misalignment(const unsigned char* address) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(address) & 3);
}

// Each word comes from the two source words that it spans. No word is read that does not hold a byte of the row.
template <int Lanes>
inline void copy_row(const unsigned char* from, unsigned char* to, int bytes, int lane) {
    const int head = min((4 - misalignment(to)) & 3, bytes);
    const int shift = misalignment(from + head);
    const int rest = bytes - head, words = shift == 0 ? rest / 4 : max((rest + shift) / 4 - 1, 0);
    const Word* in = reinterpret_cast<const Word*>(from + head - shift) + lane;
    Word* out = reinterpret_cast<Word*>(to + head) + lane;
    // A lane requests its next eight words before it stores the first: it has no other loads under way.
    constexpr int unrolled = 8, step = unrolled * Lanes;
    for (int left = (words - lane + Lanes - 1) / Lanes; left > 0; left -= unrolled, in += step, out += step) {
        Word low[unrolled] = {}, high[unrolled] = {};
#pragma unroll
        for (int j = 0; j < unrolled; ++j) {
            if (j < left) low[j] = in[Lanes * j];
            if (j < left && shift != 0) high[j] = in[Lanes * j + 1];
        }
#pragma unroll
        for (int j = 0; j < unrolled; ++j)
            if (j < left) out[Lanes * j] = __funnelshift_r(low[j], high[j], 8 * shift);
    }
    if (lane < head) to[lane] = from[lane];
    for (int i = head + 4 * words + lane; i < bytes; i += Lanes) to[i] = from[i];
}

// Bytes that repeat along a row, with a period of at most `max_period`: word i holds bytes i .. i + 3.
struct BytePattern {
    static constexpr int max_period = 32;
    const Word* words;
    int period;

    // Where the pattern is at byte i of a row. A remainder takes most of a short row's time; a period of 1 needs none.
    int phase(int i) const {
        if (period == 1) return 0;
        return i % period;
    }
    unsigned char byte(int i) const { return static_cast<unsigned char>(words[phase(i)]); }
};

// Writes bytes `begin` .. `end` - 1 of a row, which begins with the pattern's first byte.
template <int Lanes>
inline void fill_row(unsigned char* row, int begin, int end, const BytePattern& pattern, int lane) {
    if (begin >= end) return;
    const int first = min(begin + ((4 - misalignment(row + begin)) & 3), end), words = (end - first) / 4;
    Word* out = reinterpret_cast<Word*>(row + first) + lane;
    const int step = pattern.phase(4 * Lanes);
    int phase = pattern.phase(first + 4 * lane);
    for (int i = lane; i < words; i += Lanes, out += Lanes) {
        *out = pattern.words[phase];
        phase += step;
        if (phase >= pattern.period) phase -= pattern.period;
    }
    if (begin + lane < first) row[begin + lane] = pattern.byte(begin + lane);
    for (int i = first + 4 * words + lane; i < end; i += Lanes) row[i] = pattern.byte(i);
}

}  // namespace cuaug
