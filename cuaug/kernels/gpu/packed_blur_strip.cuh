#pragma once

#include "gpu/blur_rows.cuh"

// Moves the rows of a strip between global memory, shared memory and registers, for gaussian_blur_packed. A strip is 32
// columns of an image of packed pixels. A block makes a run of its rows, in chunks of eight rows; each of its warps
// filters one channel.

namespace cuaug {

// The part of a chunk that a thread moves: of one row, 16 elements of the source and eight of the result.
template <int K>
struct ThreadPart {
    static constexpr int per_row = 4 * K;  // threads

    int row, index;  // index: in the row

    ThreadPart(int thread) : row(thread / per_row), index(thread - per_row * row) {}

    int source_element() const { return 16 * index; }  // counted from the start of the left margin
    int result_element() const { return 8 * index; }   // counted from the start of the strip
};

// Selects the bytes of one channel from four packed pixels.
template <int K>
struct ChannelBytes {
    static_assert(K > 1);
    int selector, last_selector;  // of `permute_bytes`; the last one is for K = 3

    ChannelBytes(int channel)
        : selector(K == 2         ? 0x6420 + 0x1111 * channel
                   : K == 4       ? 0x40 + 0x11 * channel
                   : channel == 0 ? 0x0630
                   : channel == 1 ? 0x0741
                                  : 0x0052),
          last_selector(channel == 0   ? 0x5210
                        : channel == 1 ? 0x6210
                                       : 0x7410) {}

    Word operator()(const Word (&packed)[K]) const {
        const Word first = permute_bytes(packed[0], packed[1], selector);
        if constexpr (K == 2)
            return first;
        else if constexpr (K == 3)
            return permute_bytes(first, packed[2], last_selector);
        else
            return permute_bytes(first, permute_bytes(packed[2], packed[3], selector), low_halves);
    }
};

// Eight rows of the source in shared memory: the strip, and `margin` pixels on both sides.
template <int K>
struct PackedSourceChunk {
    static constexpr int margin = HorizontalDigits::margin, groups = (strip_width + 2 * margin) / 16,
                         pitch = 16 * K * (groups + 1);  // a group more, for the fewest bank conflicts in `lane_word`

    alignas(16) uint8 bytes[chunk_rows][pitch];

    void store(const SixteenBytes& from, const ThreadPart<K>& part) {
        *reinterpret_cast<SixteenBytes*>(&bytes[part.row][part.source_element()]) = from;
    }

    // The lane's word of matrix B of the horizontal filter (`HorizontalDigits`, gaussian_digits.cuh), for a group of 16
    // pixels. With g = lane / 4 and q = lane % 4: one channel of pixels 4 q to 4 q + 3 of row g.
    Word lane_word(const ChannelBytes<K>& channel, int group, int lane) const {
        struct alignas(K == 3 ? 4 : 4 * K) FourPixelsInMemory {
            Word words[K];
        };
        const uint8* from = &bytes[lane >> 2][K * (16 * group + 4 * (lane & 3))];
        return channel(reinterpret_cast<const FourPixelsInMemory*>(from)->words);
    }

    // Fills `radius` pixels beyond the left and the right edge of the image, where the strip reads them: the image is
    // mirrored without its edge pixel. left: the first pixel of the strip; width: of the image.
    void mirror(int left, int width, int radius, int thread) {
        const int before = max(radius - left, 0), after = min(max(left + strip_width + radius - width, 0), radius);
#pragma unroll 1
        for (int i = thread; i < K * (before + after); i += 32 * K) {
            const int pixel = i / K, channel = i - K * pixel, beyond = pixel < before ? pixel : pixel - before;
            // Counted from the edge, pixel 0 outside mirrors pixel 1 inside.
            const int to = pixel < before ? -1 - beyond : width + beyond,
                      from = pixel < before ? beyond + 1 : width - 2 - beyond;
            // `from` is at most `max_mma_radius` pixels left of the strip, within the margin.
            const int to_index = K * (to - left + margin) + channel, from_index = K * (from - left + margin) + channel;
            for (int y = 0; y < chunk_rows; ++y) bytes[y][to_index] = bytes[y][from_index];
        }
    }
};

// Eight rows of the result plus half a level in shared memory, in units of 2^-24 of a level.
template <int K>
struct PackedResultChunk {
    static constexpr int pitch = K * strip_width + 4;  // 4 more: with K = 3, `store` has no bank conflicts

    Word items[chunk_rows][pitch];

    // Stores 16 columns of a channel. tile: 0 for the left ones, 1 for the right ones.
    void store(const Accumulators& values, int channel, int tile, int lane) {
        Word* to = &items[2 * (lane & 3)][K * (16 * tile + (lane >> 2)) + channel];
        for (int i = 0; i < 4; ++i) to[i % 2 * pitch + 8 * K * (i / 2)] = values.items[i];
    }

    // The eight values that the thread stores.
    const Word* values(const ThreadPart<K>& part) const { return &items[part.row][part.result_element()]; }
};

// A strip of an image, and the thread's part of its chunks.
template <int K, class Out>
struct PackedStrip {
    ThreadPart<K> part;
    int left, last_row;  // left: the first pixel
    SourceRows rows;
    SourceGroup group;  // that the thread loads
    int in_y_stride, out_y_bytes;
    int out_count;        // elements from the thread's first one to the end of the row
    bool stores_vectors;  // the thread's eight elements are within the row, and aligned
    const uint8* in;      // element 0 of row 0
    Out* out;             // the thread's first element in row 0

    // `from` and `to`: element 0 of row 0.
    PackedStrip(const BatchRecord& record, int left, int thread, const uint8* from, Out* to)
        : part(thread),
          left(left),
          last_row(record.in_height - 1),
          rows{K * record.in_width, 1, record.in_vector_elements},
          group(rows, K * (left - HorizontalDigits::margin) + part.source_element()),
          in_y_stride(static_cast<int>(record.in.y_stride)),
          out_y_bytes(static_cast<int>(sizeof(Out)) * static_cast<int>(record.out.y_stride)),
          out_count(rows.elements - first_result()),
          stores_vectors(record.out_vector_elements >= 8 && out_count >= 8),
          in(from),
          out(to + first_result()) {}

    int first_result() const { return K * left + part.result_element(); }

    const uint8* source_row(int y) const {
        const uint8* row = mad_wide(y, in_y_stride, in);
        __builtin_assume(__isGlobal(row));
        return row;
    }

    // The thread's group of the chunk that begins at `first_row`.
    void load(int first_row, SixteenBytes& to) const {
        group.load(rows, source_row(mirrored_row(first_row + part.row, last_row)), to);
    }

    // The eight elements of the source where the thread stores its results.
    void load_eight(int first_row, Word (&words)[2]) const {
        const int y = min(first_row + part.row, last_row);
        for (int i = 0; i < 2; ++i) words[i] = rows.load_word(source_row(y), first_result() + 4 * i);
    }

    // values: eight, as PackedResultChunk holds them.
    template <class Ops>
    void store(int first_row, const Word* values, const Ops& ops) const {
        const int y = first_row + part.row;
        if (y > last_row) return;
        const AlignedVector<Out, 2> eight = to_elements<K, Out>(values, ops, part.result_element() % K);
        Out* to = reinterpret_cast<Out*>(
            const_cast<unsigned char*>(mad_wide(y, out_y_bytes, reinterpret_cast<const unsigned char*>(out))));
        if (stores_vectors) return store_as(to, eight);
        Out elements[8];
        memcpy(elements, &eight, sizeof(elements));
        for (int i = 0; i < 8; ++i)
            if (i < out_count) to[i] = elements[i];
    }
};

}  // namespace cuaug
