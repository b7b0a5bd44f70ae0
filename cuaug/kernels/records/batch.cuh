#pragma once

#include "records/parameter_table.cuh"

// A record, or in a batched launch an array of records, is the only argument of a kernel. Python packs it in one way
// for GPU kernels and CPU loops. The order of the fields keeps each at its natural alignment, so that all compilers
// agree on the layout.

namespace cuaug {

// A batch of images anywhere in memory; strides in elements.
struct BatchView {
    void* data;          // [N, T, C, H, W]
    long long n_stride;  // from one sample (a clip of T frames) to the next
    long long t_stride;
    long long c_stride;
    long long y_stride;
    long long x_stride;
};

// One image of a ragged batch, whose images differ in size.
struct RaggedImage {
    const void* data;    // [C, H, W]
    long long c_stride;  // strides in elements
    int y_stride;
    int x_stride;
    int height;
    int width;
    int vector_elements;  // as `in_vector_elements` of a batch
    int unused;
};

// The value of pixels outside the image, for the constant border: one per channel, or one per sample and channel.
struct Fill {
    ParameterTable table;  // [N, C]; data null: `value` serves all samples
    double value[4];       // the last one serves all further channels
};

inline double fill_value(const Fill& fill, long long n, int c) {
    if (fill.table.data != nullptr) return read(fill.table, n * fill.table.n_stride + c * fill.table.x_stride);
    return fill.value[c < 3 ? c : 3];
}

// The first fields of the record of a pass over a batch of images.
struct BatchRecord {
    BatchView in;
    BatchView out;
    long long samples;  // N
    int frames;         // T
    int channels;       // C
    // An `in_height` of 0 says that the batch is ragged: `in.data` is then a table of RaggedImage, whose rows are
    // `in.n_stride` times 8 bytes apart.
    int in_height;
    int in_width;
    int out_height;
    int out_width;
    // How many adjacent elements (16, 8, 4 or 0), from any multiple of that count on, can be moved as vectors of up to
    // 16 bytes, given the base address and the strides.
    int in_vector_elements;
    int out_vector_elements;
};

// The image of sample n of a ragged batch.
inline const RaggedImage& ragged_image(const BatchRecord& batch, long long n) {
    return *reinterpret_cast<const RaggedImage*>(static_cast<const double*>(batch.in.data) + n * batch.in.n_stride);
}

// The first fields of a record whose pass reads outside the image.
struct BatchWithFill : BatchRecord {
    Fill fill;
};

}  // namespace cuaug
