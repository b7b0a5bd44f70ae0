#pragma once

#include <string>

#include <pybind11/pybind11.h>

#include "records/batch.cuh"
#include "records/blend.cuh"
#include "records/box_pairs.cuh"
#include "records/gaussian_blur.cuh"
#include "records/matrix_builder.cuh"
#include "records/move_boxes.cuh"
#include "records/roi.cuh"

// Loops rely on the counts in a record and have arrays of fixed size, so a record beyond these limits raises an error.
// Python checks the same limits where the arguments are public.

namespace native {

inline void require(bool holds, const std::string& rule) {
    if (!holds) throw pybind11::value_error("the record must have " + rule);
}

inline void check_limits(const cuaug::BatchRecord& record) {
    require(record.samples >= 0 && record.frames > 0 && record.channels > 0 && record.out_height > 0 &&
                record.out_width > 0,
            "0 or more samples, and at least one frame, channel, row and column");
}

inline void check_limits(const cuaug::BlendRecord& record) {
    check_limits(static_cast<const cuaug::BatchRecord&>(record));
    require(record.branches >= 0 && record.branches <= cuaug::max_branches,
            "at most " + std::to_string(cuaug::max_branches) + " branches");
}

inline void check_limits(const cuaug::GaussianBlurRecord& record) {
    check_limits(static_cast<const cuaug::BatchRecord&>(record));
    for (const int taps : {record.kernel_width, record.kernel_height})
        require(taps % 2 == 1 && taps <= cuaug::max_taps,
                "an odd kernel of at most " + std::to_string(cuaug::max_taps) + " taps");
}

inline void check_limits(const cuaug::MatrixBuilderRecord& record) {
    require(record.input_count >= 1 && record.input_count <= cuaug::max_builder_inputs,
            "1 to " + std::to_string(cuaug::max_builder_inputs) + " inputs");
    require(record.item_size >= 0 && record.item_size <= cuaug::max_item_size,
            "at most " + std::to_string(cuaug::max_item_size) + " numbers per item");
}

inline void check_limits(const cuaug::MoveBoxesRecord& record) {
    require(record.move_count >= 1 && record.move_count <= cuaug::max_box_moves,
            "1 to " + std::to_string(cuaug::max_box_moves) + " moves");
}

inline void check_limits(const cuaug::BoxPairsRecord& record) {
    const int kind = static_cast<int>(record.kind);
    require(kind >= 0 && kind <= static_cast<int>(cuaug::IouKind::ciou), "a kind of IoU from 0 to 3");
}

inline void check_limits(const cuaug::RoiRecord& record) {
    require(record.levels >= 1 && record.levels <= cuaug::max_levels,
            "1 to " + std::to_string(cuaug::max_levels) + " levels");
}

}  // namespace native
