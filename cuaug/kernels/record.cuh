#pragma once

// The records that Python packs once and hands, byte for byte, to the GPU kernel and to the CPU loop.
// Field order keeps every member at its natural alignment, so that both compilers agree on the layout.

namespace cuaug {

// A batch of images anywhere in memory; strides in elements.
struct View {
    void* data;      // [N, T, C, H, W]
    long long n;     // stride of a sample (a clip of T frames)
    long long t;
    long long c;
    long long y;
    long long x;
};

// float32 or float64 numbers on the images' device; strides in elements, 0 repeats one entry.
struct Table {
    const void* data;
    long long n;     // stride of a sample
    long long y;     // stride of a row
    long long x;     // stride of a column
    long long is_double;
};

inline double read(const Table& table, long long offset) {
    return table.is_double ? static_cast<const double*>(table.data)[offset]
                           : static_cast<double>(static_cast<const float*>(table.data)[offset]);
}

// What lies outside a constant border: one number a channel, or one a sample and channel.
struct Fill {
    Table table;     // data null: the four values below serve, the last one for all further channels
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
    long long samples;   // N
    int frames;          // T
    int channels;        // C
    int in_height;
    int in_width;
    int out_height;
    int out_width;
    int in_aligned;      // adjacent elements that may be moved as vectors, 0, 4 or 8: base and strides are multiples of so many
    int out_aligned;
};

// Of what can lie outside the image.
struct Filled : Batch {
    Fill fill;
};

// Ops at every pixel, or a mean of what they make. Of each sample a box alone may count as the image.
template <class Geometry>
struct Warp : Filled {
    Geometry geometry;
    Table window;        // [N, 4]: top, left, height, width in whole pixels; for borders that are `Windowed`
    Table parameters;    // [N, P]: those of the ops, one after the other
    Table mean;          // [N]: float64, where the means go
    Table parts;         // [N, 1 + regions]: float64, room to take means in (gpu/mean.cuh), which begins with 0
};

// Entry i of a sample's row.
inline double entry(const Table& table, long long n, int i) { return read(table, n * table.n + i * table.x); }

}  // namespace cuaug
