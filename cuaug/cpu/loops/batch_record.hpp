#pragma once

#include "records/batch.cuh"

namespace cuaug {

// Copies a record, or the base structs that it begins with.
template <class Record>
inline Record read_record(const void* record) {
    Record out;
    memcpy(&out, record, sizeof(out));
    return out;
}

// In a ragged batch, changes the record's input to the image of sample n.
inline void select_ragged_image(BatchRecord& batch, long long n) {
    if (batch.in_height != 0) return;  // it is 0 in a ragged batch
    const RaggedImage& image = ragged_image(batch, n);
    batch.in = {const_cast<void*>(image.data), 0, 0, image.c_stride, image.y_stride, image.x_stride};
    batch.in_height = image.height;
    batch.in_width = image.width;
    batch.in_vector_elements = image.vector_elements;
}

}  // namespace cuaug
