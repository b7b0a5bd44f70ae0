#include "records/copy_boxes.cuh"
#include "gpu/word_pixel.cuh"

namespace cuaug {

constexpr int copy_threads = 256, copy_rows = 32;

inline int misalignment(const unsigned char* address) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(address) & 3);
}

// A warp copies a row: whole words of the destination, each from the two source words that it spans, and the remaining
// bytes at both ends. No word is read that does not hold a byte of the row.
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

// A block copies `copy_rows` rows of a box, each by a warp. Grid: (boxes, blocks for the tallest).
__global__ void __launch_bounds__(copy_threads) copy_boxes(const __grid_constant__ CopyBoxesRecord args) {
    const BoxCopy copy = args.copies[blockIdx.x];
    const long long first = static_cast<long long>(blockIdx.y) * copy_rows, end = min(first + copy_rows, copy.rows);
    for (long long row = first + threadIdx.x / 32; row < end; row += copy_threads / 32)
        copy_row(copy.from + row * copy.from_pitch, copy.to + row * copy.to_pitch, copy.bytes, threadIdx.x & 31);
}

}  // namespace cuaug
