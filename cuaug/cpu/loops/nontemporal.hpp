#pragma once

// Stores that bypass the cache. An ordinary store first reads its cache line and evicts another one: with float32
// results this is a quarter of the time of the ImageNet recipe.

namespace cuaug {

// A result of the compute type of at least this many bytes bypasses the cache, if the last loop of a call stores it and
// that loop is pointwise.hpp's; a smaller result stays in the cache for the next reader. `to_dtype` to float32, then
// brightness, for images of 224x224x3, in microseconds per image with ordinary and with nontemporal stores: 185 and 290
// for 8 images, 198 and 260 for 16, 380 and 260 for 32, 410 and 245 for 64. Measured with reused memory
// (_host/buffer_pool.py): pages that the system has just cleared are in the cache, and bypassing it loses
// (benchmarks/log/result-memory-cpu.md).
constexpr double nontemporal_bytes = 16 << 20;

constexpr int cache_line_bytes = 64;

inline int offset_in_cache_line(const void* address) {
    return static_cast<int>(reinterpret_cast<unsigned long>(address) % cache_line_bytes);
}

// Stores `count` numbers. Whole cache lines bypass the cache, the rest at both ends does not.
template <class R>
__attribute__((noinline)) void store_nontemporal(const R* __restrict__ in, int count, R* __restrict__ out) {
    int i = 0;
#ifdef __AVX2__
    constexpr int line = cache_line_bytes / sizeof(R);
    for (; i < count && offset_in_cache_line(out + i) != 0; ++i)
        out[i] = in[i];  // stores all numbers if none begins a cache line
    for (; i + line <= count; i += line) {
#ifdef __AVX512F__
        _mm512_stream_si512(reinterpret_cast<__m512i*>(out + i), _mm512_loadu_si512(in + i));
#else
        auto half = [&](int j) {
            _mm256_stream_si256(reinterpret_cast<__m256i*>(out + i + j),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i + j)));
        };
        half(0), half(line / 2);
#endif
    }
#endif
    for (; i < count; ++i) out[i] = in[i];
}

// A store that is done in parts while the next segment is computed: all at once it would delay other stores (8 us of
// the ImageNet recipe).
template <class R>
struct PendingStore {
    const R* in;
    R* out;
    int count;

    // Stores the first of `parts` equal parts of what is left, and more up to the end of a cache line.
    void store_part(int parts) {
        constexpr int line = cache_line_bytes / sizeof(R);
        int size = count / parts;
        if (parts > 1) size += line - offset_in_cache_line(out + size) / static_cast<int>(sizeof(R));
        if (size > count) size = count;
        store_nontemporal(in, size, out);
        in += size, out += size, count -= size;
    }
};

// Makes nontemporal stores visible before other threads learn that the result is complete.
inline void store_fence() {
#ifdef __AVX2__
    _mm_sfence();
#endif
}

}  // namespace cuaug
