#pragma once

#include "dtype.cuh"

namespace cuaug {

// Writes an element of an array of indices, of 4 or 8 bytes as the record says.
template <class Record>
inline void write_index(const Record& args, void* out, long long offset, int index) {
    if (args.index_bytes == 8)
        static_cast<int64*>(out)[offset] = index;
    else
        static_cast<int32*>(out)[offset] = index;
}

}  // namespace cuaug
