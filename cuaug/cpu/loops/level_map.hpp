#pragma once

#include "channel_io.hpp"

// Maps of uint8 levels.

namespace cuaug {

// What each level becomes.
struct LevelMap {
    uint8 table[256];
    bool is_bitwise;      // whether every level becomes (level & kept) ^ flipped, as Posterize and Invert make it
    uint8 kept, flipped;  // set by `find_bits`

    // Level 0 becomes `flipped`, and `kept` are the bits in which level 255 then differs.
    void find_bits() {
        flipped = table[0];
        kept = table[255] ^ flipped;
        is_bitwise = true;
        for (int level = 0; level < 256; ++level) is_bitwise &= table[level] == ((level & kept) ^ flipped);
    }
};

#ifdef __AVX2__
// Maps the first levels of a run, a multiple of 128, and returns their number. A level's upper four bits select one of
// 16 tables of 16 levels: all 16 are looked up, and give 0 for levels that are not theirs.
inline int map_vectors(const LevelMap& map, const uint8* in, int count, uint8* out) {
    constexpr int vectors = 4;
    int i = 0;
    for (; count - i >= 32 * vectors; i += 32 * vectors) {
        __m256i level[vectors], mapped[vectors];
        for (int j = 0; j < vectors; ++j) {
            level[j] = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i + 32 * j));
            mapped[j] = _mm256_setzero_si256();
        }
        for (int first = 0; first < 256; first += 16) {
            const __m256i table =
                _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(map.table + first)));
            for (int j = 0; j < vectors; ++j) {
                // Of the 16 levels from `first` on, `level` is 0..15 here, and the sum below 128. A sum from 128 on
                // gives 0.
                const __m256i index = _mm256_adds_epu8(level[j], _mm256_set1_epi8(0x70));
                mapped[j] = _mm256_or_si256(mapped[j], _mm256_shuffle_epi8(table, index));
                level[j] = _mm256_sub_epi8(level[j], _mm256_set1_epi8(16));
            }
        }
        for (int j = 0; j < vectors; ++j) _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i + 32 * j), mapped[j]);
    }
    return i;
}
#else
inline int map_vectors(const LevelMap&, const uint8*, int, uint8*) { return 0; }
#endif

// Maps `count` levels. Input and output may be the same memory.
__attribute__((noinline)) inline void map_run(const LevelMap& map, const uint8* in, long long in_step, int count,
                                              uint8* out, long long out_step) {
    int i = 0;
    if (in_step == 1 && out_step == 1) {
        if (map.is_bitwise) {
            const uint8 kept = map.kept, flipped = map.flipped;
#pragma omp simd
            for (int j = 0; j < count; ++j) out[j] = (in[j] & kept) ^ flipped;
            return;
        }
        i = map_vectors(map, in, count, out);
    }
    for (; i < count; ++i) out[i * out_step] = map.table[in[i * in_step]];
}

}  // namespace cuaug
