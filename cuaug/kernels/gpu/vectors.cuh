#pragma once

#include "layout.cuh"
#include "words.cuh"

namespace cuaug {

// Four adjacent pixels of a row as they lie in memory.
template <class T, int K> struct Vectors { FourElements<T> of[K]; };

template <class Layout, class T, int K>
inline Vectors<T, K> load_four(const T* at, const long long* offset) {
    Vectors<T, K> from;
    for (int k = 0; k < K; ++k) {
        const FourElements<T>* source = reinterpret_cast<const FourElements<T>*>(Same<Layout, Planar>::value ? at + offset[k] : at + 4 * k);
        __builtin_assume(__isGlobal(source));
        from.of[k] = *source;
    }
    return from;
}

template <class Layout, class T, int K>
inline void store_four(T* at, const long long* offset, const FourPixels<T, K>& pixels) {
    FourElements<T> to[K];
    scatter<Layout, T, K>(pixels, to);
    for (int k = 0; k < K; ++k) {
        FourElements<T>* target = reinterpret_cast<FourElements<T>*>(Same<Layout, Planar>::value ? at + offset[k] : at + 4 * k);
        __builtin_assume(__isGlobal(target));
        *target = to[k];
    }
}

}  // namespace cuaug
