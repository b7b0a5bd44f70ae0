#pragma once

#include "dtype.cuh"

// The records that Python packs once and hands, byte for byte, to the GPU kernel and to the CPU loop.
// Field order keeps every member at its natural alignment, so that both compilers agree on the layout.

namespace cuaug {

// A batch of images anywhere in memory; strides in elements.
struct View {
    void* data;   // [N, T, C, H, W]
    long long n;  // stride of a sample (a clip of T frames)
    long long t;
    long long c;
    long long y;
    long long x;
};

// An image of a batch whose images have each a place and a size of its own.
struct OneImage {
    const void* data;  // [C, H, W]
    long long c;       // strides in elements
    int y;
    int x;
    int height;
    int width;
    int aligned;  // as of a batch
    int unused;
};

// float32 or float64 numbers on the images' device; strides in elements, 0 repeats one entry.
struct Table {
    const void* data;
    long long n;  // stride of a sample
    long long y;  // stride of a row
    long long x;  // stride of a column
    long long is_double;
};

inline double read(const Table& table, long long offset) {
    return table.is_double ? static_cast<const double*>(table.data)[offset]
                           : static_cast<double>(static_cast<const float*>(table.data)[offset]);
}

// Matrices of three columns, one a sample, or one for all, which comes with the record.
template <int Rows>
struct Matrices {
    Table matrix;  // [N, Rows, 3]; data null: `value` serves all samples
    double value[3 * Rows];
    int inverse;  // the matrix maps destination to source
    int corner;   // pixel centres at +0.5

    static constexpr int entries = 3 * Rows;

    // Entry i of a sample's matrix, by rows, in two steps: it is converted when it is wanted, so that there is time for
    // other things while it comes.
    struct Loaded {
        double wide;
        float narrow;
    };

    Loaded load(long long n, int i) const {
        if (matrix.data == nullptr) return {value[i], 0.0f};
        const int row = i / 3, column = i - 3 * row;
        const long long offset = n * matrix.n + row * matrix.y + column * matrix.x;
        if (matrix.is_double) return {static_cast<const double*>(matrix.data)[offset], 0.0f};
        return {0.0, static_cast<const float*>(matrix.data)[offset]};
    }

    double to_double(const Loaded& loaded) const {
        return matrix.data == nullptr || matrix.is_double ? loaded.wide : to_float64(loaded.narrow);
    }

    double entry(long long n, int i) const { return to_double(load(n, i)); }
};

// What lies outside a constant border: one number a channel, or one a sample and channel.
struct Fill {
    Table table;  // data null: the four values below serve, the last one for all further channels
    double value[4];
};

inline double fill_value(const Fill& fill, long long n, int c) {
    if (fill.table.data != nullptr) return read(fill.table, n * fill.table.n + c * fill.table.x);
    return fill.value[c < 3 ? c : 3];
}

// What every record begins with.
struct Batch {
    View in;
    View out;
    long long samples;  // N
    int frames;         // T
    int channels;       // C
    int in_height;      // 0: `in.data` is a table of `OneImage`, a row for each sample, `in.n` numbers of 8 bytes apart
    int in_width;
    int out_height;
    int out_width;
    int in_aligned;  // adjacent elements that may be moved as vectors of up to 16 bytes, 0, 4, 8 or 16: base and
                     // strides are multiples of so many
    int out_aligned;
};

// The image of sample n, where each has a place and a size of its own.
inline const OneImage& one_image(const Batch& batch, long long n) {
    return *reinterpret_cast<const OneImage*>(static_cast<const double*>(batch.in.data) + n * batch.in.n);
}

// Of what can lie outside the image.
struct Filled : Batch {
    Fill fill;
};

// A number below 2^31, divided by one that the host knows: a product in place of what takes a GPU a hundred cycles
// (Granlund and Montgomery 1994).
struct Divisor {
    unsigned int factor;
    int shift;

    unsigned int operator()(unsigned int number) const {
        return static_cast<unsigned int>(static_cast<unsigned long long>(number) * factor >> shift);
    }
};

// Regions of a slice that are as wide, one above the other.
struct Stack {
    int rows;  // of each but the last: a multiple of 4, of 8 if any are halved
    int down;  // how many
};

// What is done to samples that stay where they are: see samplers/sample_override.cuh.
struct Retouch {
    Table sharpness;              // [N, 1]: the factor, 1 for samples that stay; data null: all stay
    Table relevelling;            // [N, 1]: not 0 for samples whose levels are looked up; data null: none
    const unsigned char* levels;  // [N, C, 256]: what becomes of each
};

// Ops at every pixel, and a mean of what they make. Of each sample a box alone may count as the image.
template <class Geometry>
struct Warp : Filled {
    Geometry geometry;
    Table window;      // [N, 4]: top, left, height, width in whole pixels; for borders that are `Windowed`
    Table parameters;  // [N, P]: those of the ops, one after the other
    Table parts;       // [N, regions]: float64, where each block writes its share of the sample's mean
    Retouch retouch;
    Stack wide, narrow;  // regions of the result, of which a block of the kernel makes one or a half: those as wide as
                         // they can be, and to their right those of what is left
    Divisor by_slice;    // regions that a slice has of both, or wide ones of it that are one above the other: see
                         // gpu/region_scheduler.cuh
    Divisor by_across;   // wide ones side by side, or 1
    unsigned int
        unhalved;  // regions that a block makes whole; of those behind them it makes one half; neither is empty
};

// Entry i of a sample's row.
inline double entry(const Table& table, long long n, int i) { return read(table, n * table.n + i * table.x); }

}  // namespace cuaug
