#include "records/copy_boxes.cuh"
#include "gpu/word_pixel.cuh"

namespace cuaug {

constexpr int cut_threads = 256, cut_rows = 32;

inline int phase_of(const unsigned char* address) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(address) & 3);
}

// A warp moves a row: whole words of the target, each out of the two of the source that it lies across, and by bytes
// what is left at the ends. No word is read that does not hold a byte of the row.
inline void move_row(const unsigned char* from, unsigned char* to, long long bytes, int lane) {
    const int head = static_cast<int>(min(static_cast<long long>((4 - phase_of(to)) & 3), bytes));
    const int shift = phase_of(from + head);
    const long long rest = bytes - head, words = shift == 0 ? rest / 4 : max((rest + shift) / 4 - 1, 0ll);
    const Word* in = reinterpret_cast<const Word*>(from + head - shift);
    Word* out = reinterpret_cast<Word*>(to + head);
    for (long long i = lane; i < words; i += 32)
        out[i] = shift == 0 ? in[i] : __funnelshift_r(in[i], in[i + 1], 8 * shift);
    if (lane < head) to[lane] = from[lane];
    for (long long i = head + 4 * words + lane; i < bytes; i += 32) to[i] = from[i];
}

// A block moves `cut_rows` rows of a piece. Grid: (pieces, blocks for the tallest).
__global__ void __launch_bounds__(cut_threads) cut(const __grid_constant__ Cut args) {
    const CutPiece piece = args.pieces[blockIdx.x];
    const long long first = static_cast<long long>(blockIdx.y) * cut_rows, end = min(first + cut_rows, piece.rows);
    for (long long row = first + threadIdx.x / 32; row < end; row += cut_threads / 32)
        move_row(piece.from + row * piece.from_pitch, piece.to + row * piece.to_pitch, piece.bytes, threadIdx.x & 31);
}

}  // namespace cuaug
