#pragma once

#include "gpu/blur_rows.cuh"

// Moves the rows of a strip between global memory, shared memory and registers, for gaussian_blur_u8. A strip is 32
// adjacent elements of every row of an image, and a warp makes a run of its rows, in chunks of eight rows. Lane 4 g + q
// moves part q of row g: 16 elements of the source, eight of the result.

namespace cuaug {

// Eight rows of the source in shared memory: the strip, and `margin` elements on both sides. A pixel is `Step`
// elements.
template <int Step>
struct SourceChunk {
    static constexpr int margin = HorizontalDigits::margin, groups = (strip_width + 2 * margin) / 16,
                         pitch = 16 * groups + 16;  // 16 more, to avoid bank conflicts in `lane_word`
    static_assert(groups == 4, "each lane moves a group");

    alignas(16) uint8 bytes[chunk_rows * pitch];

    uint8* row(int y) { return bytes + y * pitch; }
    const uint8* row(int y) const { return bytes + y * pitch; }

    // Stores the lane's group: q of row g.
    void store(const SixteenBytes& from, int lane) {
        *reinterpret_cast<SixteenBytes*>(row(lane >> 2) + 16 * (lane & 3)) = from;
    }

    // The lane's word of matrix B of the horizontal filter (`HorizontalDigits`, gaussian_digits.cuh), for a group of 16
    // elements: elements 4 q to 4 q + 3 of row g.
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
            // gets the value of the first element in the chunk's row.
            const int from_index = max(from - left + margin, 0);
            for (int y = 0; y < chunk_rows; ++y) row(y)[to - left + margin] = row(y)[from_index];
        }
    }
};

// Eight rows of the result plus half a level in shared memory, in units of 2^-24 of a level.
struct ResultChunk {
    static constexpr int pitch = strip_width + 4;  // 4 more, to avoid bank conflicts in `store`

    Word items[chunk_rows * pitch];

    // Stores 16 columns. tile: 0 for the left ones, 1 for the right ones.
    void store(const Accumulators& values, int tile, int lane) {
        Word* to = items + 2 * (lane & 3) * pitch + 16 * tile + (lane >> 2);
        for (int i = 0; i < 4; ++i) to[i % 2 * pitch + 8 * (i / 2)] = values.items[i];
    }

    // The eight values that the lane stores: 8 q to 8 q + 7 of row g.
    const Word* lane_values(int lane) const { return items + (lane >> 2) * pitch + 8 * (lane & 3); }
};

// A strip of an image: of packed pixels of `Step` channels, or of one channel.
template <int Step, class Out>
struct Strip {
    int lane, left, last_row;  // left: the first element
    SourceRows rows;
    SourceGroup group;  // that the lane loads
    int in_y_stride, out_y_bytes, out_x_stride;
    int out_count;        // elements from the lane's first one to the end of the row
    bool stores_vectors;  // the lane's eight elements are within the row, and aligned
    const uint8* in;      // element 0 of row 0
    Out* out;             // the lane's first element in row 0

    // out_vector: as `out_vector_elements` of the record; 0 for strided rows. `from` and `to`: element 0 of row 0.
    Strip(const BatchRecord& record, int left, int lane, const SourceRows& rows, int out_x_stride, int out_vector,
          const uint8* from, Out* to)
        : lane(lane),
          left(left),
          last_row(record.in_height - 1),
          rows(rows),
          group(rows, left - HorizontalDigits::margin + 16 * (lane & 3)),
          in_y_stride(static_cast<int>(record.in.y_stride)),
          out_y_bytes(static_cast<int>(sizeof(Out)) * static_cast<int>(record.out.y_stride)),
          out_x_stride(out_x_stride),
          out_count(rows.elements - left - 8 * (lane & 3)),
          stores_vectors(out_vector >= 8 && out_count >= 8),
          in(from),
          out(to + static_cast<long long>(left + 8 * (lane & 3)) * out_x_stride) {}

    const uint8* source_row(int y) const {
        const uint8* row = mad_wide(y, in_y_stride, in);
        __builtin_assume(__isGlobal(row));
        return row;
    }

    // The lane's group of the chunk that begins at `first_row`.
    void load(int first_row, SixteenBytes& to) const {
        group.load(rows, source_row(mirrored_row(first_row + (lane >> 2), last_row)), to);
    }

    // The eight elements of the source where the lane stores its results.
    void load_eight(int first_row, Word (&words)[2]) const {
        const int y = min(first_row + (lane >> 2), last_row);
        for (int i = 0; i < 2; ++i) words[i] = rows.load_word(source_row(y), left + 8 * (lane & 3) + 4 * i);
    }

    // values: eight, as ResultChunk holds them.
    template <class Ops>
    void store(int first_row, const Word* values, const Ops& ops) const {
        const int y = first_row + (lane >> 2);
        if (y > last_row) return;
        const AlignedVector<Out, 2> eight =
            to_elements<Step, Out>(values, ops, Step > 1 ? (left + 8 * (lane & 3)) % Step : 0);
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
