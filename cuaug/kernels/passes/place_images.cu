#include "records/place_images.cuh"
#include "gpu/convert.cuh"
#include "gpu/word_pixel.cuh"

namespace cuaug {

// A thread makes `place_passes` times `place_words` words of a plane; a block's words of a pass are adjacent.
constexpr int place_threads = 256, place_words = 4, place_passes = 4, max_pixel_bytes = 32,
              place_block_bytes = 4 * place_words * place_passes * place_threads;

// The fill of an image's rows: word i holds bytes i .. i + 3 of a pixel of `pixel_bytes` bytes, again and again.
struct FillWords {
    const Word* words;
    int pixel_bytes;
};

// Writes the words of the fill. Called by a block.
template <class T>
inline FillWords fill_words(const PlaceImagesRecord& args, long long n, int plane, Word (&words)[max_pixel_bytes]) {
    __shared__ T pixel[max_pixel_bytes / sizeof(T)];
    const int i = threadIdx.x, pixel_bytes = args.pixel_channels * static_cast<int>(sizeof(T));
    if (i < args.pixel_channels) pixel[i] = saturate_cast<T>(fill_value(args.fill, n, plane + i));
    __syncthreads();
    if (i < pixel_bytes) {
        const unsigned char* bytes = reinterpret_cast<const unsigned char*>(pixel);
        Word word = 0;
        for (int j = 0; j < 4; ++j) word |= static_cast<Word>(bytes[(i + j) % pixel_bytes]) << 8 * j;
        words[i] = word;
    }
    __syncthreads();
    return {words, pixel_bytes};
}

// One plane of a result, and the box's plane.
struct PlacedPlane {
    const unsigned char* box;
    unsigned char* result;
    long long box_pitch;
    int rows, bytes, top, left;  // of the box
    int row_bytes, plane_bytes;  // of the result

    PlacedPlane(const ImagePlacement& placement, int plane)
        : box(placement.from + plane * placement.from_plane),
          result(placement.to + plane * placement.to_rows * placement.to_bytes),
          box_pitch(placement.from_pitch),
          rows(static_cast<int>(placement.rows)),
          bytes(static_cast<int>(placement.bytes)),
          top(static_cast<int>(placement.top)),
          left(static_cast<int>(placement.left)),
          row_bytes(static_cast<int>(placement.to_bytes)),
          plane_bytes(static_cast<int>(placement.to_rows * placement.to_bytes)) {}
};

// Four bytes of a row of the result: those of the box come from the two source words that they span.
struct PlacedWord {
    Word low, high, box_mask;
    int shift;

    // Byte x of row y of the result is the first. Words at the sides of the box's row hold bytes beside it: between the
    // box's first and last row these belong to the image, but elsewhere its memory may end, so bytes are read one by
    // one.
    void load(const PlacedPlane& plane, int y, int x) {
        const int row = y - plane.top, column = x - plane.left;
        const int first = max(-column, 0), end = min(plane.bytes - column, 4);
        const bool has_box = static_cast<unsigned int>(row) < static_cast<unsigned int>(plane.rows) && first < end;
        const unsigned char* from = plane.box + row * plane.box_pitch + column;
        box_mask = has_box ? ~0u << 8 * first & ~0u >> 8 * (4 - end) : 0;
        if (has_box && (row == 0 || row == plane.rows - 1) && (column < 4 || column + 8 > plane.bytes)) {
            low = high = 0, shift = 0;
#pragma unroll 1
            for (int j = first; j < end; ++j) low |= static_cast<Word>(from[j]) << 8 * j;
            return;
        }
        shift = static_cast<int>(reinterpret_cast<unsigned long long>(from) & 3);
        const Word* in = reinterpret_cast<const Word*>(from - shift);
        low = has_box && first < 4 - shift ? in[0] : 0;
        high = has_box && end > 4 - shift ? in[1] : 0;
    }

    Word merged(Word fill) const { return (__funnelshift_r(low, high, 8 * shift) & box_mask) | (fill & ~box_mask); }
};

inline void place_byte(const PlacedPlane& plane, int position, const FillWords& fill) {
    if (position < 0 || position >= plane.plane_bytes) return;
    const int y = position / plane.row_bytes, x = position - y * plane.row_bytes, row = y - plane.top,
              column = x - plane.left;
    const bool in_box = static_cast<unsigned int>(row) < static_cast<unsigned int>(plane.rows) &&
                        static_cast<unsigned int>(column) < static_cast<unsigned int>(plane.bytes);
    plane.result[position] = in_box ? plane.box[row * plane.box_pitch + column]
                                    : static_cast<unsigned char>(fill.words[x % fill.pixel_bytes]);
}

// A block makes `place_block_bytes` of a plane of a result, in aligned words. Grid: (planes of all frames times the
// blocks of the largest plane).
template <class T>
__global__ void __launch_bounds__(place_threads) place_images(const __grid_constant__ PlaceImagesRecord args) {
    const unsigned int plane_number = blockIdx.x / args.plane_blocks, image = plane_number / args.planes,
                       n = image / args.frames;
    const int plane_index = plane_number % args.planes;
    const PlacedPlane plane(placement_of(args, n, image % args.frames), plane_index);
    const int before = static_cast<int>(reinterpret_cast<unsigned long long>(plane.result) & 3);
    const long long block_start = static_cast<long long>(blockIdx.x % args.plane_blocks) * place_block_bytes - before;
    if (block_start >= plane.plane_bytes) return;
    __shared__ Word words[max_pixel_bytes];
    const FillWords fill = fill_words<T>(args, n, plane_index, words);

    constexpr int step = 4 * place_threads;  // bytes from a thread's word to its next
    const int start = static_cast<int>(block_start) + 4 * static_cast<int>(threadIdx.x),
              step_rows = step / plane.row_bytes, step_columns = step - step_rows * plane.row_bytes,
              step_phase = step % fill.pixel_bytes;
    int y = max(start, 0) / plane.row_bytes, x = start - y * plane.row_bytes;
    int phase =
        (x + 4 * fill.pixel_bytes) % fill.pixel_bytes;  // bytes from the first of a pixel; rows have whole pixels
#pragma unroll 1
    for (int pass = 0; pass < place_passes; ++pass) {
        const int first = start + step * place_words * pass;
        if (first >= plane.plane_bytes) break;
        PlacedWord placed[place_words];
        bool is_in_row[place_words];
#pragma unroll
        for (int i = 0; i < place_words; ++i) {
            placed[i].load(plane, y, x);
            is_in_row[i] = x >= 0 && x + 4 <= plane.row_bytes;
            y += step_rows, x += step_columns;
            if (x >= plane.row_bytes) ++y, x -= plane.row_bytes;
        }
#pragma unroll
        for (int i = 0; i < place_words; ++i) {
            const int position = first + step * i;
            if (is_in_row[i] && position + 4 <= plane.plane_bytes)
                *reinterpret_cast<Word*>(plane.result + position) = placed[i].merged(fill.words[phase]);
            else
#pragma unroll 1
                for (int j = 0; j < 4; ++j) place_byte(plane, position + j, fill);
            phase += step_phase;
            if (phase >= fill.pixel_bytes) phase -= fill.pixel_bytes;
        }
    }
}

}  // namespace cuaug
