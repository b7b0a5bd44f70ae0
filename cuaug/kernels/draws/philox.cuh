#pragma once

// Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"). It is counter-based: a draw is a
// function of its key and counter and of no earlier draw.

namespace cuaug {

// Four words: a counter, or the random words that are computed from it.
struct PhiloxBlock {
    unsigned int word[4];
};

// `unroll` 1 takes an eighth of the instructions: for code that runs once and waits for its instructions to be fetched.
template <int unroll = 10>
inline PhiloxBlock philox(PhiloxBlock counter, unsigned int key_low, unsigned int key_high) {
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

// The random numbers of one sample at one step, for the transform at one position of a recipe.
struct PhiloxStream {
    unsigned long long seed;
    unsigned long long step;  // only the lower 32 bits are used
    unsigned long long id;    // of the sample; only the lower 48 bits are used
    unsigned int position;    // below 2^16

    // Four words. `index` numbers the draws of a position.
    template <int unroll = 10>
    PhiloxBlock draw(unsigned int index) const {
        const PhiloxBlock counter = {{index, position | static_cast<unsigned int>(id >> 32) << 16,
                                      static_cast<unsigned int>(id), static_cast<unsigned int>(step)}};
        return philox<unroll>(counter, static_cast<unsigned int>(seed), static_cast<unsigned int>(seed >> 32));
    }
};

}  // namespace cuaug
