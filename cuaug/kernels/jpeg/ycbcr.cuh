#pragma once

// RGB and YCbCr of JFIF in integers, as libjpeg. Luma and chroma are centred: 128 less than JFIF's. V is int, or a
// vector of ints.

namespace cuaug {

constexpr int ycbcr_bits = 16;  // of the fraction of the factors

template <class V>
inline void rgb_to_ycbcr(const V& r, const V& g, const V& b, V& y, V& cb, V& cr) {
    constexpr int half = 1 << (ycbcr_bits - 1);
    y = (19595 * r + 38470 * g + 7471 * b + (half - (128 << ycbcr_bits))) >> ycbcr_bits;
    cb = (-11059 * r - 21709 * g + 32768 * b + (half - 1)) >> ycbcr_bits;
    cr = (32768 * r - 27439 * g - 5329 * b + (half - 1)) >> ycbcr_bits;
}

// The results may lie outside 0..255.
template <class V>
inline void ycbcr_to_rgb(const V& y, const V& cb, const V& cr, V& r, V& g, V& b) {
    constexpr int half_plus_128 = (1 << (ycbcr_bits - 1)) + (128 << ycbcr_bits);
    r = y + ((91881 * cr + half_plus_128) >> ycbcr_bits);
    g = y + ((-22554 * cb - 46802 * cr + half_plus_128) >> ycbcr_bits);
    b = y + ((116130 * cb + half_plus_128) >> ycbcr_bits);
}

// The mean of two by two pixels from their sum. Ties are rounded down in even columns of chroma, and up in odd ones.
inline int mean_of_four(int sum, int column) { return (sum + 1 + (column & 1)) >> 2; }

// Chroma of a pixel from the chroma samples around it. `nearest_sum` belongs to the nearest column of samples,
// `adjacent_sum` to the second nearest one. A sum is 3 times the sample in the nearest row, plus the sample in the next
// row. A tie is rounded up for a pixel left of the nearest sample, and down for one right of it.
inline int upsampled(int nearest_sum, int adjacent_sum, bool is_right) {
    return (3 * nearest_sum + adjacent_sum + (is_right ? 7 : 8)) >> 4;
}

// The chroma of an image: half the rows and columns, rounded up.
struct ChromaSize {
    int height, width;

    // libjpeg repeats the chroma of images of up to four columns, and interpolates that of others.
    bool interpolates() const { return width > 2; }

    // The second row of chroma that row y of the image needs; the first is y / 2.
    int next_row(int y) const {
        const int next = (y >> 1) + (y & 1 ? 1 : -1);
        return !interpolates() || next < 0 || next >= height ? y >> 1 : next;
    }
};

inline ChromaSize chroma_size(int height, int width) { return {(height + 1) >> 1, (width + 1) >> 1}; }

}  // namespace cuaug
