#pragma once

#include "records/batch.cuh"

namespace cuaug {

// A lookup table of levels for uint8 images.
struct LutRecord : BatchRecord {
    const unsigned char* table;  // [N, C, 256]; strides in elements, 0 repeats one entry
    long long table_n_stride;
    long long table_c_stride;
    long long table_x_stride;
};

}  // namespace cuaug
