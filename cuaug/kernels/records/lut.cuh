#pragma once

#include "records/batch.cuh"

namespace cuaug {

// Levels in place of those of an image of bytes. Mirrored by cuaug/_pass.py.
struct LutRecord : BatchRecord {
    const unsigned char* table;  // [N, C, 256]; strides in elements, 0 repeats one entry
    long long table_n;
    long long table_c;
    long long table_x;
};

}  // namespace cuaug
