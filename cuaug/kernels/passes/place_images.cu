#include "records/place_images.cuh"
#include "gpu/convert.cuh"
#include "gpu/copy_row.cuh"

namespace cuaug {

constexpr int place_rows = 32, place_rows_at_once = 8;

// Writes the words of the fill's pattern: the bytes of one pixel of an image of T, again and again. Called by a block.
template <class T>
inline BytePattern fill_pattern(const PlaceImagesRecord& args, long long n, int plane, Word* words) {
    __shared__ T pixel[BytePattern::max_period / sizeof(T)];
    const int i = threadIdx.x, period = args.pixel_channels * static_cast<int>(sizeof(T));
    if (i < args.pixel_channels) pixel[i] = saturate_cast<T>(fill_value(args.fill, n, plane + i));
    __syncthreads();
    if (i < period) {
        const unsigned char* bytes = reinterpret_cast<const unsigned char*>(pixel);
        Word word = 0;
        for (int j = 0; j < 4; ++j) word |= static_cast<Word>(bytes[(i + j) % period]) << 8 * j;
        words[i] = word;
    }
    __syncthreads();
    return {words, period};
}

// A block makes `place_rows` rows of a result's plane, each by `Lanes` lanes of a warp: fewer for short rows, whose
// set-up takes longer than their copy. Grid: (planes of all frames, blocks for the tallest result).
template <class T, int Lanes>
__global__ void __launch_bounds__(place_rows_at_once* Lanes, 128 / Lanes)
    place_images(const __grid_constant__ PlaceImagesRecord args) {
    const unsigned int image = blockIdx.x / args.planes, n = image / args.frames;
    const int plane = blockIdx.x % args.planes, lane = threadIdx.x % Lanes;
    const ImagePlacement placement = placement_of(args, n, image % args.frames);
    const long long first = static_cast<long long>(blockIdx.y) * place_rows,
                    end = min(first + place_rows, placement.to_rows);
    if (first >= end) return;
    __shared__ Word words[BytePattern::max_period];
    const BytePattern pattern = fill_pattern<T>(args, n, plane, words);
    const int left = static_cast<int>(placement.left), bytes = static_cast<int>(placement.bytes), right = left + bytes,
              to_bytes = static_cast<int>(placement.to_bytes);
    const unsigned char* part = placement.from + plane * placement.from_plane;
    unsigned char* result = placement.to + plane * placement.to_rows * placement.to_bytes;
    for (long long y = first + threadIdx.x / Lanes; y < end; y += place_rows_at_once) {
        unsigned char* row = result + y * placement.to_bytes;
        const long long part_row = y - placement.top;
        if (part_row >= 0 && part_row < placement.rows) {
            fill_row<Lanes>(row, 0, left, pattern, lane);
            copy_row<Lanes>(part + part_row * placement.from_pitch, row + left, bytes, lane);
            fill_row<Lanes>(row, right, to_bytes, pattern, lane);
        } else {
            fill_row<Lanes>(row, 0, to_bytes, pattern, lane);
        }
    }
}

}  // namespace cuaug
