#pragma once

#include "gpu/convert.cuh"
#include "gpu/gaussian_digits.cuh"
#include "gpu/layout.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/vectors.cuh"
#include "gpu/wide_multiply.cuh"

// Moves the rows of a strip between global memory, shared memory and registers, for gaussian_blur_u8. Lane 4 g + q of
// the warp moves row g of a chunk of eight rows.

namespace cuaug {

constexpr int strip_length = 32;  // elements of a row that a warp makes
constexpr int chunk_rows = 8;     // rows that it makes at a time

struct alignas(16) SixteenBytes {
    Word words[4];
};

// Rows of the source in shared memory: a strip, and `margin` elements on both sides. A group is 16 elements of a row.
template <int Step>
struct SourceChunk {
    static constexpr int margin = AcrossMatrix<Step>::margin, groups = strip_length / 16 + margin / 8,
                         groups_per_lane = (groups + 3) / 4, pitch = 64 * groups_per_lane + 16;

    uint8 bytes[chunk_rows * pitch];

    uint8* row(int y) { return bytes + y * pitch; }
    const uint8* row(int y) const { return bytes + y * pitch; }

    // Stores groups q, q + 4, ...
    void store(const SixteenBytes (&from)[groups_per_lane], int lane) {
        for (int i = 0; i < groups_per_lane; ++i)
            *reinterpret_cast<SixteenBytes*>(row(lane >> 2) + 16 * (lane & 3) + 64 * i) = from[i];
    }

    // Elements 4 q to 4 q + 3 of a group.
    Word four(int group, int lane) const {
        return *reinterpret_cast<const Word*>(row(lane >> 2) + 16 * group + 4 * (lane & 3));
    }

    // Fills the elements beyond the image's left and right edge that the filter reads, `count` beyond each, with those
    // that they mirror. left: the first element of the strip; elements: of a row of the image.
    void mirror(int left, int elements, int count, int lane) {
        const int before = max(count - left, 0), after = max(left + strip_length + count - elements, 0);
#pragma unroll 1
        for (int i = lane; i < before + min(after, count); i += 32) {
            const int beyond = i < before ? i : i - before, pixel = beyond / Step, channel = beyond - pixel * Step;
            // Counted from the edge, pixel 0 outside mirrors pixel 1 inside.
            const int to = i < before ? -1 - beyond : elements + beyond,
                      from = i < before ? Step * (pixel + 2) - 1 - channel : elements - Step * (pixel + 2) + channel;
            for (int y = 0; y < chunk_rows; ++y) row(y)[to - left + margin] = row(y)[from - left + margin];
        }
    }
};

// Rows of the result in shared memory, in units of 2^-24 of a level.
struct ResultChunk {
    static constexpr int pitch = strip_length + 4;

    Word items[chunk_rows * pitch];

    // tile: which 16 columns these are.
    void store(const Accumulators& pixels, int tile, int lane) {
        Word* to = items + 2 * (lane & 3) * pitch + 16 * tile + (lane >> 2);
        for (int i = 0; i < 4; ++i) to[i % 2 * pitch + 8 * (i / 2)] = pixels.items[i];
    }

    // Elements 8 q to 8 q + 7.
    const Word* eight(int lane) const { return items + (lane >> 2) * pitch + 8 * (lane & 3); }
};

// 16 elements of a row of the source that a lane loads; 0 beyond the row.
struct LaneGroup {
    int first, elements;  // the first of them, and the number in a row
    int x_stride, vector_elements;
    bool is_vector, is_outside;  // they are one vector; none is in the row

    LaneGroup() = default;
    LaneGroup(int first, int elements, int x_stride, int vector_elements)
        : first(first),
          elements(elements),
          x_stride(x_stride),
          vector_elements(vector_elements),
          is_vector(vector_elements >= 16 && first >= 0 && first + 16 <= elements),
          is_outside(first + 16 <= 0 || first >= elements) {}

    void load(const uint8* row, SixteenBytes& out) const {
        if (is_vector) {
            const SixteenBytes* vector = reinterpret_cast<const SixteenBytes*>(row + first);
            __builtin_assume(__isGlobal(vector));
            out = *vector;
        } else if (!is_outside) {
#pragma unroll 1
            for (int i = first; i < first + 16; i += 4) {
                for (int j = 0; j < 3; ++j) out.words[j] = out.words[j + 1];
                out.words[3] = load_word(row, i);
            }
        }
    }

    // Elements i to i + 3.
    Word load_word(const uint8* row, int i) const {
        if (vector_elements && i + 4 <= elements) return *reinterpret_cast<const Word*>(row + i);
        if (x_stride == 1 && i >= 3 && i + 7 <= elements) {  // both words around them are within the row
            const Word shift = static_cast<Word>(reinterpret_cast<unsigned long long>(row + i)) & 3;
            const Word* const words = reinterpret_cast<const Word*>(row + i - shift);
            return __funnelshift_r(words[0], words[1], 8 * shift);
        }
        Word out = 0;
        for (int j = 0; j < 4; ++j)
            if (i + j < elements) out |= static_cast<Word>(row[mul_wide(i + j, x_stride)]) << 8 * j;
        return out;
    }
};

// Four values in units of 2^-24 of a level -> elements. Bytes are rounded already.
template <class Out>
inline FourElements<Out> to_elements(const Word* items) {
    FourElements<Out> out;
    if constexpr (is_same_v<Out, uint8>) {
        out.word[0] =
            permute_bytes(permute_bytes(items[0], items[1], 0x73), permute_bytes(items[2], items[3], 0x73), low_halves);
    } else {
        Pixel<float, 4> values;
        constexpr float scale = 256.0f * inv_255;
        for (int i = 0; i < 4; ++i)  // the bits are those of 1 + items[i] / 2^32
            values.c[i] = float(max_value<Out>) * __fmaf_rn(__uint_as_float(items[i] >> 9 | 0x3F800000), scale, -scale);
        const WordPixel<Out, 4> stored = saturate_pack<Out>(values);
        memcpy(&out, &stored, sizeof(out));
    }
    return out;
}

// A strip of an image: of rows of packed pixels of `Step` channels, or of one channel.
template <int Step, class Out>
struct Strip {
    using Source = SourceChunk<Step>;

    int lane, left, elements, last_row;  // left: the first element; elements: of a row of the image
    LaneGroup groups[Source::groups_per_lane];
    int in_y_stride, out_y_bytes, out_x_stride;
    int out_count;        // elements from the lane's first one to the end of the row
    bool stores_vectors;  // the lane's eight elements are in the row, and aligned
    const uint8* in;      // element 0 of row 0
    Out* out;             // the lane's first element in row 0

    // in_vector, out_vector: as `in_vector_elements` of the record; 0 for strided rows.
    Strip(const BatchRecord& record, int left, int lane, int in_x_stride, int in_vector, int out_x_stride,
          int out_vector)
        : lane(lane),
          left(left),
          elements(Step * record.in_width),
          last_row(record.in_height - 1),
          in_y_stride(static_cast<int>(record.in.y_stride)),
          out_y_bytes(static_cast<int>(sizeof(Out)) * static_cast<int>(record.out.y_stride)),
          out_x_stride(out_x_stride),
          out_count(elements - left - 8 * (lane & 3)),
          stores_vectors(out_vector >= 8 && out_count >= 8) {
        for (int i = 0; i < Source::groups_per_lane; ++i)
            groups[i] = {left - Source::margin + 16 * (lane & 3) + 64 * i, elements, in_x_stride, in_vector};
    }

    // For the image, or the channel, at these addresses.
    void set_image(const uint8* from, Out* to) {
        in = from;
        out = to + static_cast<long long>(left + 8 * (lane & 3)) * out_x_stride;
    }

    const uint8* row(int y) const {
        const uint8* out = mad_wide(y, in_y_stride, in);
        __builtin_assume(__isGlobal(out));
        return out;
    }

    // The rows from `first_row` on, mirrored at the image's edges. Rows that are an image away have no weight.
    void load(int first_row, SixteenBytes (&to)[Source::groups_per_lane]) const {
        const int mirrored = last_row - abs(last_row - abs(first_row + (lane >> 2)));
        for (int i = 0; i < Source::groups_per_lane; ++i) groups[i].load(row(max(mirrored, 0)), to[i]);
    }

    // The eight elements of the row that the lane stores.
    void load_eight(int first_row, Word (&words)[2]) const {
        const int y = min(first_row + (lane >> 2), last_row);
        for (int i = 0; i < 2; ++i) words[i] = groups[0].load_word(row(y), left + 8 * (lane & 3) + 4 * i);
    }

    // items: eight values, in units of 2^-24 of a level.
    void store(int first_row, const Word* items) const {
        const int y = first_row + (lane >> 2);
        if (y > last_row) return;
        AlignedVector<Out, 2> eight;
        for (int i = 0; i < 2; ++i) eight.elements[i] = to_elements<Out>(items + 4 * i);
        Out* to = reinterpret_cast<Out*>(
            const_cast<unsigned char*>(mad_wide(y, out_y_bytes, reinterpret_cast<const unsigned char*>(out))));
        if (stores_vectors) return store_as(to, eight);
        Out elements[8];
        memcpy(elements, &eight, sizeof(elements));
        for (int i = 0; i < 8; ++i)
            if (i < out_count) to[static_cast<long long>(i) * out_x_stride] = elements[i];
    }
};

}  // namespace cuaug
