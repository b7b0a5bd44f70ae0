#pragma once

#include "gpu/word_pixel.cuh"

namespace cuaug {

// How many pixels have each level, counted by a block without atomic operations. Each lane of each warp counts in bytes
// of its own, which lie in one bank: no two lanes conflict. Shared memory.
//
// Byte b of row r belongs to level r + 64 b. A row has 64 words: those of two warps.
template <int Warps>
struct LevelHistogram {
    static_assert(Warps % 2 == 0);
    static constexpr int rows = 64, row_words = 64, max_count = 255;

    Word words[Warps / 2][rows][row_words];

    // The word of a lane in row 0. Called with threadIdx.x.
    static int lane_word(int thread) { return thread / 64 * rows * row_words + thread % 64; }

    // The lane's part of the result: of levels lane + 32 i + 64 b.
    struct LaneSums {
        Word of_level[2][4];
    };

    void clear() {
        Word* const column = &words[0][0][0] + lane_word(threadIdx.x);
        for (int row = 0; row < rows; ++row) column[row * row_words] = 0;
    }

    // Counts `count` of four levels, which are the bytes of a word.
    void add(Word levels, int count) {
        uint8* const bytes = reinterpret_cast<uint8*>(words);
        const Word in_row = 4 * (threadIdx.x % 64), pair = 4 * rows * row_words * (threadIdx.x / 64),
                   row = levels & 0x3F3F3F3F, byte_in_row = (levels >> 6 & 0x03030303) | 0x01010101 * in_row;
        Word at[4], counts[4];
        for (int i = 0; i < 4; ++i) {
            at[i] = (permute_bytes(byte_in_row, row, i | (4 + i) << 4) & 0xFFFF) | pair;
            counts[i] = bytes[at[i]];  // all are loaded before the first is stored
        }
        for (int i = 0; i < 4; ++i) {
            if (i >= count) break;
            for (int j = 0; j < i; ++j) counts[i] += at[i] == at[j];
            bytes[at[i]] = static_cast<uint8>(counts[i] + 1);
        }
    }

    // Moves the counts of a warp to `sums`. Called by all lanes, before a lane has counted more than `max_count` levels.
    void move_to(LaneSums& sums) {
        const int lane = threadIdx.x % 32;
        __syncwarp();
        for (int i = 0; i < 2; ++i) {
            Word* const row = &words[0][0][0] + lane_word(threadIdx.x - lane) + (lane + 32 * i) * row_words;
            Word even = 0, odd = 0;  // two sums of 16 bits
#pragma unroll 8
            for (int j = 0; j < 32; ++j) {
                Word& counts = row[(j + lane) % 32];
                even += counts & 0x00FF00FF;
                odd += counts >> 8 & 0x00FF00FF;
                counts = 0;
            }
            sums.of_level[i][0] += even & 0xFFFF, sums.of_level[i][1] += odd & 0xFFFF;
            sums.of_level[i][2] += even >> 16, sums.of_level[i][3] += odd >> 16;
        }
        __syncwarp();
    }
};

}  // namespace cuaug
