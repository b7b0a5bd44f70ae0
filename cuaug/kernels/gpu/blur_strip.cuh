#pragma once

#include "gpu/convert.cuh"
#include "gpu/gaussian_digits.cuh"
#include "gpu/layout.cuh"
#include "gpu/pixel_convert.cuh"
#include "gpu/vectors.cuh"
#include "gpu/wide_multiply.cuh"

// Moves the rows of a strip between global memory, shared memory and registers, for gaussian_blur_u8. A strip is 32
// adjacent elements of every row of an image, and a warp makes a run of its rows: in chunks of eight, of which lane
// 4 g + q moves row g. A group is 16 adjacent elements of a row.

namespace cuaug {

constexpr int strip_width = 32, chunk_rows = 8;

struct alignas(16) SixteenBytes {
    Word words[4];
};

// Rows of the source in shared memory: the strip, and `Margin` elements on both sides. A pixel is `Step` elements.
template <int Step, int Margin>
struct SourceChunk {
    static constexpr int groups = strip_width / 16 + 2 * (Margin / 16), groups_per_lane = (groups + 3) / 4,
                         pitch = 64 * groups_per_lane + 16;  // 16 more, to avoid bank conflicts in `lane_word`

    uint8 bytes[chunk_rows * pitch];

    uint8* row(int y) { return bytes + y * pitch; }
    const uint8* row(int y) const { return bytes + y * pitch; }

    // Stores groups q, q + 4, ...
    void store(const SixteenBytes (&from)[groups_per_lane], int lane) {
        for (int i = 0; i < groups_per_lane; ++i)
            *reinterpret_cast<SixteenBytes*>(row(lane >> 2) + 16 * (lane & 3) + 64 * i) = from[i];
    }

    // The lane's word of a group as matrix B of the horizontal filter (`HorizontalWeights`, gaussian_digits.cuh):
    // elements 4 q to 4 q + 3 of row g.
    Word lane_word(int group, int lane) const {
        return *reinterpret_cast<const Word*>(row(lane >> 2) + 16 * group + 4 * (lane & 3));
    }

    // Fills `count` elements beyond the left and the right edge of the image, where the strip reads them: the image is
    // mirrored without its edge pixel. left: the first element of the strip; elements: of a row of the image.
    void mirror(int left, int elements, int count, int lane) {
        const int before = max(count - left, 0), after = max(left + strip_width + count - elements, 0);
#pragma unroll 1
        for (int i = lane; i < before + min(after, count); i += 32) {
            const int beyond = i < before ? i : i - before, pixel = beyond / Step, channel = beyond - pixel * Step;
            // Counted from the edge, pixel 0 outside mirrors pixel 1 inside.
            const int to = i < before ? -1 - beyond : elements + beyond,
                      from = i < before ? Step * (pixel + 2) - 1 - channel : elements - Step * (pixel + 2) + channel;
            // The mirror image of an element that the strip does not need may lie left of the margin. Such an element
            // gets the value of the first element in the row.
            const int from_index = max(from - left + Margin, 0);
            for (int y = 0; y < chunk_rows; ++y) row(y)[to - left + Margin] = row(y)[from_index];
        }
    }
};

// Rows of the result in shared memory, in units of 2^-24 of a level.
struct ResultChunk {
    static constexpr int pitch = strip_width + 4;  // 4 more, to avoid bank conflicts

    Word items[chunk_rows * pitch];

    // Stores 16 columns. tile: 0 for the left ones, 1 for the right ones.
    void store(const Accumulators& values, int tile, int lane) {
        Word* to = items + 2 * (lane & 3) * pitch + 16 * tile + (lane >> 2);
        for (int i = 0; i < 4; ++i) to[i % 2 * pitch + 8 * (i / 2)] = values.items[i];
    }

    // The eight values that the lane stores: 8 q to 8 q + 7 of row g.
    const Word* lane_values(int lane) const { return items + (lane >> 2) * pitch + 8 * (lane & 3); }
};

// How the elements of a source row lie in memory.
struct SourceRows {
    int elements, x_stride;
    int vector_elements;  // as `in_vector_elements` of the record; 0 for strided rows

    // Elements i to i + 3; 0 for those beyond the row.
    Word load_word(const uint8* row, int i) const {
        if (vector_elements && i + 4 <= elements) return *reinterpret_cast<const Word*>(row + i);
        if (x_stride == 1 && i >= 3 && i + 8 <= elements) {  // the two aligned words around them are within the row
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

// A group of the source rows that a lane loads.
struct LaneGroup {
    int first;                   // element
    bool is_vector, is_outside;  // one load of 16 bytes; no element is within the row

    LaneGroup() = default;
    LaneGroup(const SourceRows& rows, int first)
        : first(first),
          is_vector(rows.vector_elements >= 16 && first >= 0 && first + 16 <= rows.elements),
          is_outside(first + 16 <= 0 || first >= rows.elements) {}

    // Elements beyond the end of the row become 0. A group outside the row leaves `out` as it is.
    void load(const SourceRows& rows, const uint8* row, SixteenBytes& out) const {
        if (is_vector) {
            const SixteenBytes* vector = reinterpret_cast<const SixteenBytes*>(row + first);
            __builtin_assume(__isGlobal(vector));
            out = *vector;
        } else if (!is_outside) {
#pragma unroll 1
            for (int i = first; i < first + 16; i += 4) {
                for (int j = 0; j < 3; ++j) out.words[j] = out.words[j + 1];  // an index would need local memory
                out.words[3] = rows.load_word(row, i);
            }
        }
    }
};

// What is added to a value before `to_elements`, in units of 2^-24 of a level. Bytes are rounded to nearest, and the
// rows between the filters, which are rounded down, are 2^-9 of a level too low on average. Other dtypes get neither,
// so that a constant image stays as it is.
template <class Out>
constexpr int rounding_offset = is_same_v<Out, uint8> ? (1 << 23) + (1 << 15) : 0;

// Four values in units of 2^-24 of a level -> elements.
template <class Out>
inline FourElements<Out> to_elements(const Word* values) {
    FourElements<Out> out;
    if constexpr (is_same_v<Out, uint8>) {
        out.word[0] = permute_bytes(permute_bytes(values[0], values[1], 0x73),
                                    permute_bytes(values[2], values[3], 0x73), low_halves);
    } else {
        Pixel<float, 4> scaled;
        constexpr float scale = 256.0f * inv_255;
        // The bits are those of 1 + values[i] / 2^32, without the lowest 9 bits of values[i].
        for (int i = 0; i < 4; ++i)
            scaled.c[i] =
                float(max_value<Out>) * __fmaf_rn(__uint_as_float(values[i] >> 9 | 0x3F800000), scale, -scale);
        const WordPixel<Out, 4> stored = saturate_pack<Out>(scaled);
        memcpy(&out, &stored, sizeof(out));
    }
    return out;
}

// A strip of an image: of packed pixels of `Step` channels, or of one channel. `Margin`: as for SourceChunk.
template <int Step, int Margin, class Out>
struct Strip {
    using Source = SourceChunk<Step, Margin>;

    int lane, left, last_row;  // left: the first element
    SourceRows rows;
    LaneGroup groups[Source::groups_per_lane];
    int in_y_stride, out_y_bytes, out_x_stride;
    int out_count;        // elements from the lane's first one to the end of the row
    bool stores_vectors;  // the lane's eight elements are within the row, and aligned
    const uint8* in;      // element 0 of row 0
    Out* out;             // the lane's first element in row 0

    // out_vector: as `out_vector_elements` of the record; 0 for strided rows.
    Strip(const BatchRecord& record, int left, int lane, const SourceRows& rows, int out_x_stride, int out_vector)
        : lane(lane),
          left(left),
          last_row(record.in_height - 1),
          rows(rows),
          in_y_stride(static_cast<int>(record.in.y_stride)),
          out_y_bytes(static_cast<int>(sizeof(Out)) * static_cast<int>(record.out.y_stride)),
          out_x_stride(out_x_stride),
          out_count(rows.elements - left - 8 * (lane & 3)),
          stores_vectors(out_vector >= 8 && out_count >= 8) {
        for (int i = 0; i < Source::groups_per_lane; ++i)
            groups[i] = LaneGroup(rows, left - Margin + 16 * (lane & 3) + 64 * i);
    }

    // For the image, or the channel, at these addresses.
    void set_image(const uint8* from, Out* to) {
        in = from;
        out = to + static_cast<long long>(left + 8 * (lane & 3)) * out_x_stride;
    }

    const uint8* source_row(int y) const {
        const uint8* row = mad_wide(y, in_y_stride, in);
        __builtin_assume(__isGlobal(row));
        return row;
    }

    // The rows from `first_row` on, mirrored once at the image's edges. For rows that are then still outside, row 0 is
    // loaded: they have no weight, except in an image of one row, whose table may have a weight at pixel 1.
    void load(int first_row, SixteenBytes (&to)[Source::groups_per_lane]) const {
        const int mirrored = last_row - abs(last_row - abs(first_row + (lane >> 2)));
        for (int i = 0; i < Source::groups_per_lane; ++i) groups[i].load(rows, source_row(max(mirrored, 0)), to[i]);
    }

    // The eight elements of the source where the lane stores its results.
    void load_eight(int first_row, Word (&words)[2]) const {
        const int y = min(first_row + (lane >> 2), last_row);
        for (int i = 0; i < 2; ++i) words[i] = rows.load_word(source_row(y), left + 8 * (lane & 3) + 4 * i);
    }

    // values: eight, in units of 2^-24 of a level.
    void store(int first_row, const Word* values) const {
        const int y = first_row + (lane >> 2);
        if (y > last_row) return;
        AlignedVector<Out, 2> eight;
        for (int i = 0; i < 2; ++i) eight.elements[i] = to_elements<Out>(values + 4 * i);
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
