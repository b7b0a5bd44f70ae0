#pragma once

// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): a draw is a function of where it
// is wanted, and of nothing that was drawn before.

namespace cuaug {

struct Random4 {
    unsigned int word[4];
};

// `unroll`: 1 for an eighth of the instructions, where they run once and are waited for.
template <int unroll = 10>
inline Random4 philox(Random4 counter, unsigned int key_low, unsigned int key_high) {
#pragma unroll unroll
    for (int round = 0; round < 10; ++round) {
        const unsigned long long a = 0xD2511F53ull * counter.word[0], b = 0xCD9E8D57ull * counter.word[2];
        counter = {{static_cast<unsigned int>(b >> 32) ^ counter.word[1] ^ key_low, static_cast<unsigned int>(b),
                    static_cast<unsigned int>(a >> 32) ^ counter.word[3] ^ key_high, static_cast<unsigned int>(a)}};
        key_low += 0x9E3779B9u;
        key_high += 0xBB67AE85u;
    }
    return counter;
}

// The random numbers of one sample at one step, for one position of a recipe.
struct Stream {
    unsigned long long seed;
    unsigned long long step;  // the lower 32 bits count
    unsigned long long id;    // the lower 48 bits count
    unsigned int position;    // below 2^16

    // Four words; `index` counts them within the position.
    template <int unroll = 10>
    Random4 draw(unsigned int index) const {
        const Random4 counter = {{index, position | static_cast<unsigned int>(id >> 32) << 16,
                                  static_cast<unsigned int>(id), static_cast<unsigned int>(step)}};
        return philox<unroll>(counter, static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32));
    }
};

}  // namespace cuaug
