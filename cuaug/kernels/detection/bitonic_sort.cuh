#pragma once

namespace cuaug {

// Sorts the keys of a block's threads, one each, by `precedes`: thread i gets the key of rank i. The number of threads
// is a power of two, at least 32. `precedes` must order any two different keys: of two keys of which neither precedes
// the other, one is lost. A bitonic sort (Batcher 1968). Keys of one warp are exchanged by `shuffle_xor`, others
// through `memory`, which has room for a key of each thread. For 1,024 keys 15 of 55 rounds need barriers.
template <class Key>
inline Key bitonic_sort(Key key, Key* memory) {
    const int thread = threadIdx.x, count = blockDim.x;
    for (int run = 2; run <= count; run *= 2)
        for (int distance = run / 2; distance > 0; distance /= 2) {
            Key other;
            if (distance < 32) {
                other = shuffle_xor(key, distance);
            } else {
                memory[thread] = key;
                __syncthreads();
                other = memory[thread ^ distance];
                __syncthreads();
            }
            const bool is_lower = (thread & distance) == 0, ascending = (thread & run) == 0;
            if (precedes(other, key) == (is_lower == ascending)) key = other;
        }
    return key;
}

}  // namespace cuaug
