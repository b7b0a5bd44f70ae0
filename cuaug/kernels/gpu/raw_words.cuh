#pragma once

#include "gpu/raw_box.cuh"
#include "gpu/wide_multiply.cuh"

// Stages words (four bytes) of raw boxes through registers: those that raw_stage.cuh does not copy in chunks, because
// the image's right edge cuts their chunk, because the border has to be resolved, or because rows are not aligned.

namespace cuaug {

template <class T>
inline Word element_at(const unsigned char* address) {
    using Bits = conditional_t<sizeof(T) == 1, unsigned char, conditional_t<sizeof(T) == 2, unsigned short, Word>>;
    const Bits* bits = reinterpret_cast<const Bits*>(address);
    __builtin_assume(__isGlobal(bits));
    return *bits;
}

// The elements of a row of the image, or of one of its planes, from which a word of a box is made; the border is
// resolved. The four sources of a word of uint8 mostly lie close to each other: even if the border mirrors them, a
// span of 4 bytes holds them, or of 6 bytes for packed pixels of three. The words that hold the span are then
// loaded and permuted. Other elements, such as those on both sides of the seam of `Wrap`, are loaded one by one.
template <class BoxLayout, class T, int K, class Border>
struct WordSource {
    static constexpr int step = BoxLayout::step, size = sizeof(T), elements = elements_per_word<T>;
    static constexpr bool fills = is_fill_border<Border>, has_long_span = size == 1 && step == 3;
    static constexpr int span_bytes = has_long_span ? 6 : 4;

    int first;             // the span's first byte in the row
    int offset[elements];  // of each element from it, in bytes
    int last;              // the highest of them
    Word selector;         // of __byte_perm: offset[i] in digit i
    Word mask;             // its bits are 0 in elements that the border fills, 1 in others

    // For the word of the box that begins at a byte, counted from the first pixel of the box.
    WordSource(const Image<T, K, Border>& image, int byte) : first(0x7fffffff), last(0), selector(0), mask(~0u) {
        const int width = image.window.width;
        constexpr int added_pixels = 16;  // for the division, which rounds towards 0: `byte` is at least -15
        for (int i = 0; i < elements; ++i) {
            const int at = byte + size * i + added_pixels * step, pixel = at / step,
                      x = pixel - added_pixels + image.base_x, column = Border::resolve(x, width);
            if (fills && column < 0) mask &= ~((size == 4 ? ~0u : (1u << 8 * size % 32) - 1) << 8 * size * i);
            offset[i] = step * (column < 0 ? Edge::resolve(x, width) : column) + at - step * pixel;
            first = min(first, offset[i]);
        }
        for (int i = 0; i < elements; ++i) {
            offset[i] -= first;
            last = max(last, offset[i]);
            selector |= offset[i] << 4 * i;
        }
    }

    // `at`: address of the span's first byte.
    Word load_span(const unsigned char* at) const {
        const Word shift = static_cast<Word>(reinterpret_cast<unsigned long long>(at)) & 3;
        const Word* const words = reinterpret_cast<const Word*>(at - shift);
        __builtin_assume(__isGlobal(words));
        // A word is not loaded if no element lies in it: it might lie beyond the image.
        const Word first_word = words[0], second = shift + last < 4 ? 0 : words[1];
        if constexpr (has_long_span) {
            const Word third = shift + last < 8 ? 0 : words[2];
            return mask & __byte_perm(__funnelshift_r(first_word, second, 8 * shift),
                                      __funnelshift_r(second, third, 8 * shift), selector);
        } else {
            return mask & __byte_perm(first_word, second, selector + 0x1111 * shift);
        }
    }

    Word load_elements(const unsigned char* at) const {
        Word out = element_at<T>(at + offset[0]);
        for (int i = 1; i < elements; ++i) out |= element_at<T>(at + offset[i]) << 8 * size * i;
        return mask & out;
    }

    // Calls function(load) with the function that loads the word: `load_span` for uint8, if a span holds all
    // elements and no word that is read may end beyond the row of `row_bytes` bytes; else `load_elements`.
    // `is_aligned`: rows begin at multiples of four bytes.
    template <class Function>
    void with_load(int row_bytes, bool is_aligned, const Function& function) const {
        const int highest = first + last, span_end = is_aligned ? highest | 3 : highest + 3;
        if (size == 1 && last < span_bytes && span_end < row_bytes)
            function([&](const unsigned char* at) { return load_span(at); });
        else
            function([&](const unsigned char* at) { return load_elements(at); });
    }
};

// With a border that fills: whether a box may have words that are not copied in chunks. Aligned rows have them only in
// the chunk that the image's right edge cuts. `vector_bytes`: the alignment of rows.
template <class BoxLayout>
inline bool may_have_words_with_fill(int image_width, int vector_bytes) {
    return vector_bytes < 4 || BoxLayout::step * image_width % chunk_bytes != 0;
}

// Columns of words of a box: [0, left), and `right` columns from `right_begin` on.
struct WordColumns {
    int left, right_begin, right;
};

// The columns that are not copied in chunks. `copies_chunks`: the chunks that lie wholly inside the image are copied,
// and, if the border fills, those that lie wholly outside.
template <class BoxLayout, bool fills>
inline WordColumns word_columns(const SourceBox& box, int base_x, int image_width, bool copies_chunks) {
    const int columns = chunk_bytes / 4 * box.groups;
    if (!copies_chunks) return {columns, columns, 0};
    const int begin = BoxLayout::step * base_x & -chunk_bytes, row_bytes = BoxLayout::step * image_width,
              inside_bytes = row_bytes & -chunk_bytes;  // of the chunks in a row of the image
    const int left = fills ? 0 : min(max(-begin >> 2, 0), columns),
              right_begin = min(max((inside_bytes - begin) >> 2, left), columns);
    const int right_end = !fills ? columns : min(((row_bytes + chunk_bytes - 1 & -chunk_bytes) - begin) >> 2, columns);
    return {left, right_begin, max(right_end - right_begin, 0)};
}

// Stages columns of words, with zeros where the border fills. A thread stages one column at a time; it loads
// `ahead` rows before it waits. Four rows of several planes, or of pixels of four channels, would not fit into
// registers.
template <class Layout, class T, int K, class Border>
inline void stage_words(const Image<T, K, Border>& image, const SourceBox& box, const NeededRows& needed_rows,
                        const WordColumns& columns, bool is_aligned, unsigned char* memory, int plane_bytes) {
    using BoxLayout = RawBoxLayout<Layout, T, K>;
    constexpr int planes = BoxLayout::planes, ahead = planes > 1 || K > 3 ? 2 : 4;
    const int threads = blockDim.x, count = columns.left + columns.right,
              before = BoxLayout::bytes_before(image.base_x);
    const float inv_count = __fdividef(1.0f, static_cast<float>(count));
    const int rows_per_pass = max(static_cast<int>((threads + 0.5f) * inv_count), 1),
              thread_row = static_cast<int>((threadIdx.x + 0.5f) * inv_count);
    if (thread_row >= rows_per_pass) return;
    const int row_stride = static_cast<int>(sizeof(T)) * image.y_stride;
#pragma unroll 1
    for (int i = threadIdx.x - thread_row * count; i < count; i += threads) {
        const int byte = 4 * (i < columns.left ? i : i - columns.left + columns.right_begin);
        const WordSource<BoxLayout, T, K, Border> source(image, byte - before);
        const unsigned char* spans[planes];  // in row 0
        for (int k = 0; k < planes; ++k)
            spans[k] = reinterpret_cast<const unsigned char*>(image.data + image.offset[k]) + source.first;
        // The rows in which samplers may read the word: those of a chunk with the word at its centre.
        const RowRange needed =
            needed_rows.rows(static_cast<float>(byte - before + BoxLayout::step * box.x - (chunk_bytes - 4) / 2));
        const int end = min(needed.first - box.y + needed.count, box.height);
        source.with_load(BoxLayout::step * image.window.width, is_aligned, [&](const auto& load) {
#pragma unroll 1
            for (int row = max(needed.first - box.y, 0) + thread_row; row < end; row += ahead * rows_per_pass) {
                int image_rows[ahead];
                Word words[ahead][planes];
                for (int j = 0; j < ahead; ++j) image_rows[j] = image.row_of(min(row + j * rows_per_pass, end - 1));
                for (int j = 0; j < ahead; ++j) {
                    const bool is_fill = source.fills && (image_rows[j] < 0 || source.mask == 0);
                    for (int k = 0; k < planes; ++k)
                        words[j][k] = is_fill ? 0 : load(mad_wide(image_rows[j], row_stride, spans[k]));
                }
                unsigned char* const to = memory + row * box.pitch + byte;
                for (int j = 0; j < ahead; ++j)
                    for (int k = 0; k < planes && row + j * rows_per_pass < end; ++k)
                        *reinterpret_cast<Word*>(to + j * rows_per_pass * box.pitch + k * plane_bytes) = words[j][k];
            }
        });
    }
}

}  // namespace cuaug
