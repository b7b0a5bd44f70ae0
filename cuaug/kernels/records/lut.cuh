#pragma once

#include "records/batch.cuh"

namespace cuaug {

// A lookup table of levels for uint8 images.
struct LutRecord : BatchRecord {
    const unsigned char* table;  // [N, C, 256]; strides in elements, 0 repeats one entry
    long long table_n;
    long long table_c;
    long long table_x;
};

}  // namespace cuaug
