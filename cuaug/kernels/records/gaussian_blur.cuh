#pragma once

#include "dtype.cuh"
#include "records/batch.cuh"

namespace cuaug {

constexpr int max_taps = 127;  // per axis: the room of the CPU loop's workspace and of a GPU block's shared memory

// A separable Gaussian filter, and a chain of ops on its results.
struct GaussianBlurRecord : BatchRecord {
    ParameterTable sigma;  // [N, 2]: x, y in pixels; data null: `value` serves all samples
    double value[2];
    ParameterTable op_parameters;  // [N, P]: the parameters of all ops, in their order
    int kernel_width;              // odd, at most `max_taps`
    int kernel_height;
    // Of the tile that a block of gaussian_blur makes: multiples of 8. gaussian_blur_u8 and gaussian_blur_packed take
    // only the height.
    int tile_width;
    int tile_height;
};

// Sigma of a sample; axis 0 is x.
inline double sigma_of(const GaussianBlurRecord& record, long long n, int axis) {
    return record.sigma.data != nullptr ? read(record.sigma, n * record.sigma.n_stride + axis * record.sigma.x_stride)
                                        : record.value[axis];
}

// Weight of the pixel `offset` from the centre, whose weight is 1. A sigma of 0, possible only in a device array,
// leaves the image as it is; a NaN sigma makes all weights NaN.
template <class R>
inline R gaussian_weight(int offset, double sigma) {
    const R distance = static_cast<R>(offset / sigma);
    return offset == 0 && sigma == sigma ? R(1) : exp(R(-0.5) * distance * distance);
}

// Weights up to this are left out, after their sum has been scaled to 1. Together they are at most 2.5e-5 on an axis,
// 0.006 of a level, for uint8; for other dtypes but float64 at most 3.4e-8, less than float32 resolves. A narrow
// Gaussian does not fill its kernel: more than half of SimCLR's taps are skipped.
template <class In>
constexpr double min_weight = sizeof(In) == 8        ? 0.0
                              : is_same_v<In, uint8> ? 1.0 / (1 << 18)
                                                     : 1.0 / (1 << 27);

}  // namespace cuaug
