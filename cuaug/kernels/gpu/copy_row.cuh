#pragma once

#include "gpu/word_pixel.cuh"

// A warp copies or fills bytes of a row, which lie anywhere in memory: whole words of the destination, then the bytes
// before and after them.

namespace cuaug {

inline int misalignment(const unsigned char* address) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(address) & 3);
}

// Each word comes from the two source words that it spans. No word is read that does not hold a byte of the row.
inline void copy_row(const unsigned char* from, unsigned char* to, long long bytes, int lane) {
    const int head = static_cast<int>(min(static_cast<long long>((4 - misalignment(to)) & 3), bytes));
    const int shift = misalignment(from + head);
    const long long rest = bytes - head, words = shift == 0 ? rest / 4 : max((rest + shift) / 4 - 1, 0ll);
    const Word* in = reinterpret_cast<const Word*>(from + head - shift);
    Word* out = reinterpret_cast<Word*>(to + head);
    // A lane requests its next eight words before it stores the first: a warp has no other loads under way.
    constexpr int unrolled = 8;
    for (long long i = lane; i < words; i += 32 * unrolled) {
        const int count = static_cast<int>(min(static_cast<long long>(unrolled), (words - i + 31) / 32));
        Word low[unrolled] = {}, high[unrolled] = {};
#pragma unroll
        for (int j = 0; j < unrolled; ++j) {
            if (j < count) low[j] = in[i + 32 * j];
            if (j < count && shift != 0) high[j] = in[i + 32 * j + 1];
        }
#pragma unroll
        for (int j = 0; j < unrolled; ++j)
            if (j < count) out[i + 32 * j] = __funnelshift_r(low[j], high[j], 8 * shift);
    }
    if (lane < head) to[lane] = from[lane];
    for (long long i = head + 4 * words + lane; i < bytes; i += 32) to[i] = from[i];
}

// Bytes that repeat along a row, with a period of at most `max_period`: word i holds bytes i .. i + 3.
struct BytePattern {
    static constexpr int max_period = 32;
    const Word* words;
    int period;

    unsigned char byte(int i) const { return static_cast<unsigned char>(words[i % period]); }
};

// Writes bytes `begin` .. `end` - 1 of a row, which begins with the pattern's first byte.
inline void fill_row(unsigned char* row, int begin, int end, const BytePattern& pattern, int lane) {
    if (begin >= end) return;
    const int first = min(begin + ((4 - misalignment(row + begin)) & 3), end), words = (end - first) / 4;
    Word* out = reinterpret_cast<Word*>(row + first);
    const int step = 128 % pattern.period;
    int phase = (first + 4 * lane) % pattern.period;
    for (int i = lane; i < words; i += 32) {
        out[i] = pattern.words[phase];
        phase += step;
        if (phase >= pattern.period) phase -= pattern.period;
    }
    if (begin + lane < first) row[begin + lane] = pattern.byte(begin + lane);
    for (int i = first + 4 * words + lane; i < end; i += 32) row[i] = pattern.byte(i);
}

}  // namespace cuaug
