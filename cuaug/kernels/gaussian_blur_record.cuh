#pragma once

#include "record.cuh"

namespace cuaug {

constexpr int most_taps = 127;  // along an axis: what cpu/gaussian_blur.hpp, and a GPU's shared memory, have room for

// A Gaussian, across and down. Mirrored by cuaug/_pass.py.
struct GaussianBlur : Batch {
    Table sigma;  // [N, 2]: x, y in pixels; data null: `value` serves all samples
    double value[2];
    int kernel_width;  // odd, at most `most_taps`
    int kernel_height;
    int tile_width;  // what a block of the GPU makes, multiples of 8
    int tile_height;
};

// Of a sample; axis 0 is x.
inline double sigma_of(const GaussianBlur& record, long long n, int axis) {
    return record.sigma.data != nullptr ? read(record.sigma, n * record.sigma.n + axis * record.sigma.x)
                                        : record.value[axis];
}

// Of the pixel `offset` from the middle, which is 1. A sigma of 0, which only a device array can hold, leaves the image
// as it is.
template <class R>
inline R gaussian_weight(int offset, double sigma) {
    const R share = static_cast<R>(offset / sigma);
    return offset == 0 && sigma == sigma ? R(1) : exp(R(-0.5) * share * share);
}

}  // namespace cuaug
