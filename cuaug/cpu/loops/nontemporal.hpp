#pragma once

// Numbers that go to memory past the cache. A line that is written there is read first, and takes the place of one that
// is wanted: of the ImageNet recipe to float32 that is a quarter of the time.

namespace cuaug {

// Bytes of a result from which on this pays: less stays in the cache for whoever reads it next. Chains of single ops of
// float32 images of 224x224x3, us an image, through the cache and past it: of 8 images 185 and 290, of 16 198 and 260,
// of 32 380 and 260, of 64 410 and 245. It takes memory that is used again (_memory.py); pages that the system has just
// cleared are in the cache, and 20 us slower past it.
constexpr double nontemporal_bytes = 16 << 20;

constexpr int cache_line_bytes = 64;

inline int bytes_after_cache_line(const void* at) {
    return static_cast<int>(reinterpret_cast<unsigned long>(at) % cache_line_bytes);
}

// Whole lines past the cache, what is left at either end through it.
template <class R>
__attribute__((noinline)) void store_nontemporal(const R* __restrict__ from, int count, R* __restrict__ to) {
    int i = 0;
#ifdef __AVX2__
    constexpr int line = cache_line_bytes / sizeof(R);
    for (; i < count && bytes_after_cache_line(to + i) != 0; ++i)
        to[i] = from[i];  // all, where no number begins a line
    for (; i + line <= count; i += line) {
#ifdef __AVX512F__
        _mm512_stream_si512(reinterpret_cast<__m512i*>(to + i), _mm512_loadu_si512(from + i));
#else
        auto half = [&](int j) {
            _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i + j),
                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + i + j)));
        };
        half(0), half(line / 2);
#endif
    }
#endif
    for (; i < count; ++i) to[i] = from[i];
}

// Numbers on their way, while the next are worked on: all at once they would hold up whatever else is stored (8 us of
// that recipe).
template <class R>
struct PendingStore {
    const R* from;
    R* to;
    int left;

    // One of so many parts that are left, up to where a line ends.
    void store_part(int parts) {
        constexpr int line = cache_line_bytes / sizeof(R);
        int count = left / parts;
        if (parts > 1) count += line - bytes_after_cache_line(to + count) / static_cast<int>(sizeof(R));
        if (count > left) count = left;
        store_nontemporal(from, count, to);
        from += count, to += count, left -= count;
    }
};

// Before another thread is told that they are there.
inline void store_fence() {
#ifdef __AVX2__
    _mm_sfence();
#endif
}

}  // namespace cuaug
