#pragma once

namespace cuaug {

// The keys of a block's threads, one each, in the order of `before`; the threads are a power of two, at least 32.
// Bitonic (Batcher 1968): keys of one warp meet by `exchanged`, others through memory for a key of each thread. Of 55
// rounds for 1,024 keys, 15 need barriers.
template <class Key>
inline Key bitonic(Key key, Key* memory) {
    const int own = threadIdx.x, count = blockDim.x;
    for (int run = 2; run <= count; run *= 2)
        for (int apart = run / 2; apart > 0; apart /= 2) {
            Key other;
            if (apart < 32) {
                other = exchanged(key, apart);
            } else {
                memory[own] = key;
                __syncthreads();
                other = memory[own ^ apart];
                __syncthreads();
            }
            const bool first = (own & apart) == 0, rising = (own & run) == 0;
            if (before(other, key) == (first == rising)) key = other;
        }
    return key;
}

}  // namespace cuaug
