#pragma once

#include "gpu/raw_box.cuh"
#include "gpu/raw_words.cuh"
#include "gpu/wide_multiply.cuh"

// Copies the input to raw boxes in shared memory (raw_box.cuh), and writes the fill outside the image.

namespace cuaug {

// Writes the fill as words that repeat along a row: one per channel (planar), or those of a few pixels (packed). Called
// by one warp. `fill(k)`: the fill of channel k.
template <class BoxLayout, class T, class Fill>
inline void write_fill_pattern(Word (&fill_pattern)[4], int lane, const Fill& fill) {
    constexpr int word_elements = elements_per_word<T>;
    if (lane < word_elements * BoxLayout::pattern_words)
        reinterpret_cast<T*>(fill_pattern)[lane] =
            fill(BoxLayout::packed ? lane % BoxLayout::channels : lane / word_elements);
}

// Copies bytes from global to shared memory; if `in_image` is false, writes zeros, and `from` may point anywhere. The
// bytes have arrived when `wait_for_copies` returns.
#if __CUDA_ARCH__ >= 800
template <int Bytes>
inline void copy_async(unsigned int to, const unsigned char* from, bool in_image) {
    const int bytes_read = in_image ? Bytes : 0;
    if constexpr (Bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" : : "r"(to), "l"(from), "r"(bytes_read));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                     :
                     : "r"(to), "l"(from), "n"(Bytes), "r"(bytes_read));
}

inline void wait_for_copies() { asm volatile("cp.async.wait_all;" : : : "memory"); }
#else
template <int Bytes>
inline void copy_async(unsigned int to, const unsigned char* from, bool in_image) {
    struct alignas(Bytes) Bits {
        Word word[Bytes / 4];
    };
    *static_cast<Bits*>(__cvta_shared_to_generic(to)) = in_image ? *reinterpret_cast<const Bits*>(from) : Bits{};
}

inline void wait_for_copies() { asm volatile("" : : : "memory"); }
#endif

// The chunks that a thread copies: one column of them, from the top down. All threads together copy `rows_per_pass`
// rows at a time, so that adjacent lanes load adjacent chunks; memory delivers two chunks (32 bytes) at a time.
template <class Layout, class T, int K, class Border>
struct ThreadChunks {
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    static constexpr int size = sizeof(T);
    static constexpr bool fills = is_fill_border<Border>;

    const Image<T, K, Border>& image;
    const SourceBox& box;
    int byte, end;          // the column of chunks and the image's right edge, in bytes from the image's left edge
    int y;                  // the thread's first row
    RowRange needed_range;  // rows of the box that the tile needs in this column
    // With a border that fills: the needed rows that lie in the image; none if the column of chunks lies outside. With
    // other borders: all needed rows.
    RowRange image_range;
    bool is_inside, is_outside;  // whether the column lies wholly inside, or wholly outside, the image's columns
    unsigned int first;          // address of the first chunk in shared memory

    ThreadChunks(const Image<T, K, Border>& image, const SourceBox& box, const NeededRows& needed_rows,
                 unsigned char* memory)
        : image(image), box(box), end(BoxLayout::step * image.window.width) {
        const int row = static_cast<int>((threadIdx.x + 0.5f) * box.inv_groups), chunk = threadIdx.x - row * box.groups;
        y = row < box.rows_per_pass ? row : box.height;  // threads beyond the last whole row of chunks have no rows
        byte = (BoxLayout::step * image.base_x & -chunk_bytes) + chunk_bytes * chunk;
        is_inside = byte >= 0 && byte + chunk_bytes <= end;
        is_outside = byte + chunk_bytes <= 0 || byte >= end;
        needed_range = needed_rows.rows(static_cast<float>(byte - BoxLayout::step * (image.base_x - box.x)));
        needed_range.first -= box.y;
        image_range = needed_range;
        if constexpr (fills) {
            image_range.first = max(needed_range.first, -image.base_y);
            image_range.count =
                is_outside ? 0
                           : max(min(needed_range.first + needed_range.count, image.window.height - image.base_y) -
                                     image_range.first,
                                 0);
        }
        first = static_cast<unsigned int>(__cvta_generic_to_shared(memory)) + row * box.pitch + chunk_bytes * chunk;
    }

    // Calls copy(to, from, in_image, plane) for each needed chunk; `in_image`: part of it lies in the image. `Every`:
    // also for the other chunks, with in_image false.
    template <bool Every = false, int Unrolled = 1, class Copy>
    void walk(int plane_bytes, const Copy& copy) const {
        const int step = size * image.y_stride, pass_bytes = box.rows_per_pass * box.pitch;
        const unsigned char* from[BoxLayout::planes];
        for (int k = 0; k < BoxLayout::planes; ++k)
            from[k] = reinterpret_cast<const unsigned char*>(image.data + image.offset[k]) + byte +
                      (fills ? mul_wide(image.base_y + y, step) : 0);  // else in row 0
        unsigned int to = first;
#pragma unroll Unrolled
        for (int row = y; row < box.height; row += box.rows_per_pass, to += pass_bytes) {
            if (Every || needed_range.has(row)) {
                const int image_row = fills ? 0 : image.row_of(row);
                for (int k = 0; k < BoxLayout::planes; ++k)
                    copy(to + k * plane_bytes, fills ? from[k] : mad_wide(image_row, step, from[k]),
                         image_range.has(row), k);
            }
            for (int k = 0; k < BoxLayout::planes && fills; ++k) from[k] += mul_wide(box.rows_per_pass, step);
        }
    }
};

// Stages a raw box. Called by all threads of the block. Copies of whole chunks may still be under way when the function
// returns: `wait_for_copies` waits for them.
template <class Layout, class T, int K, class Border>
inline void stage_raw(const Image<T, K, Border>& image, const SourceBox& box, const NeededRows& needed_rows,
                      int vector_elements, unsigned char* memory, int plane_bytes) {
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    const ThreadChunks<Layout, T, K, Border> thread_chunks(image, box, needed_rows, memory);
    constexpr bool fills = thread_chunks.fills;
    const int vector_bytes = vector_elements * static_cast<int>(sizeof(T));
    const bool is_whole = thread_chunks.is_inside || (fills && thread_chunks.is_outside);
    if (is_whole && vector_bytes >= chunk_bytes) {
        // Two rows per iteration are requested without waiting for registers. With one plane, a chunk that is not
        // needed is requested as zeros, which takes less time than a branch (benchmarks/log/warp-needed-rows.md).
        thread_chunks.template walk<BoxLayout::planes == 1, 2>(
            plane_bytes, [](unsigned int to, const unsigned char* from, bool in_image, int) {
                copy_async<chunk_bytes>(to, from, in_image);
            });
    } else if (is_whole && vector_bytes >= 4) {
        thread_chunks.walk(plane_bytes, [](unsigned int to, const unsigned char* from, bool in_image, int) {
            for (int b = 0; b < chunk_bytes; b += 4) copy_async<4>(to + b, from + b, in_image);
        });
    }
    if (fills && !may_have_words_with_fill<BoxLayout>(image.window.width, vector_bytes)) return;
    const WordColumns columns =
        word_columns<BoxLayout, fills>(box, image.base_x, image.window.width, vector_bytes >= 4);
    if (columns.left + columns.right > 0)
        stage_words<Layout>(image, box, needed_rows, columns, vector_bytes >= 4, memory, plane_bytes);
}

// Writes the fill outside the image. Called by all threads of the block, each after it has waited for its own copies.
template <class Layout, class T, int K>
inline void fill_outside(const Image<T, K, Constant>& image, const SourceBox& box, const NeededRows& needed_rows,
                         const Word (&fill_pattern)[4], unsigned char* memory, int plane_bytes) {
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    constexpr int size = sizeof(T), word_elements = elements_per_word<T>;
    const ThreadChunks<Layout, T, K, Constant> thread_chunks(image, box, needed_rows, memory);
    const int byte = thread_chunks.byte,
              phase = BoxLayout::packed
                          ? word_elements * ((byte / 4 % BoxLayout::pattern_words + BoxLayout::pattern_words) %
                                             BoxLayout::pattern_words)
                          : 0;
    thread_chunks.walk(plane_bytes, [&](unsigned int to, const unsigned char*, bool in_image, int k) {
        if (in_image && thread_chunks.is_inside) return;
#pragma unroll 1
        for (int j = 0; j < chunk_bytes / size; ++j)
            if (!in_image || byte + size * j < 0 || byte + size * j >= thread_chunks.end)
                *static_cast<T*>(__cvta_shared_to_generic(to + size * j)) = reinterpret_cast<const T*>(
                    fill_pattern)[BoxLayout::packed ? (phase + j) % (word_elements * BoxLayout::pattern_words)
                                                    : word_elements * k];
    });
}

}  // namespace cuaug
