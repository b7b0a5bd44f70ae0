#pragma once

#include "records/box_pairs.cuh"
#include "records/move_boxes.cuh"
#include "records/nms.cuh"
#include "records/roi.cuh"
#include "records/soft_nms.cuh"
#include "records/typed_array.cuh"
#include "record_layout.hpp"

namespace native {

template <>
struct FieldsOf<cuaug::TypedArray> {
    using S = cuaug::TypedArray;
    static Fields list() {
        return fields("data n_stride k_stride x_stride dtype_code", &S::data, &S::n_stride, &S::k_stride, &S::x_stride,
                      &S::dtype_code);
    }
};

template <>
struct FieldsOf<cuaug::BoxMove> {
    using S = cuaug::BoxMove;
    static Fields list() {
        return fields("matrices source_boxes canvases canvas is_affine is_scale_and_shift", &S::matrices,
                      &S::source_boxes, &S::canvases, &S::canvas, &S::is_affine, &S::is_scale_and_shift);
    }
};

template <>
struct FieldsOf<cuaug::MoveBoxesRecord> {
    using S = cuaug::MoveBoxesRecord;
    static Fields list() {
        return fields(
            "move boxes row_samples given_valid out valid rows boxes_per_row min_area min_visibility move_count format",
            &S::move, &S::boxes, &S::row_samples, &S::given_valid, &S::out, &S::valid, &S::rows, &S::boxes_per_row,
            &S::min_area, &S::min_visibility, &S::move_count, &S::format);
    }
};

template <>
struct FieldsOf<cuaug::NmsRecord> {
    using S = cuaug::NmsRecord;
    static Fields list() {
        return fields(
            "boxes scores classes counts out out_counts keys ranked_boxes decisions kept block_counts samples "
            "iou_threshold score_threshold count max_output has_score_threshold index_bytes rotated words_per_block",
            &S::boxes, &S::scores, &S::classes, &S::counts, &S::out, &S::out_counts, &S::keys, &S::ranked_boxes,
            &S::decisions, &S::kept, &S::block_counts, &S::samples, &S::iou_threshold, &S::score_threshold, &S::count,
            &S::max_output, &S::has_score_threshold, &S::index_bytes, &S::rotated, &S::words_per_block);
    }
};

template <>
struct FieldsOf<cuaug::SoftNmsRecord> {
    using S = cuaug::SoftNmsRecord;
    static Fields list() {
        return fields(
            "boxes scores counts out out_scores out_counts workspace index samples iou_threshold sigma score_threshold "
            "count max_output gaussian index_bytes",
            &S::boxes, &S::scores, &S::counts, &S::out, &S::out_scores, &S::out_counts, &S::workspace, &S::index,
            &S::samples, &S::iou_threshold, &S::sigma, &S::score_threshold, &S::count, &S::max_output, &S::gaussian,
            &S::index_bytes);
    }
};

template <>
struct FieldsOf<cuaug::BoxPairsRecord> {
    using S = cuaug::BoxPairsRecord;
    static Fields list() {
        return fields("a b out samples p q eps kind out_is_float64", &S::a, &S::b, &S::out, &S::samples, &S::p, &S::q,
                      &S::eps, &S::kind, &S::out_is_float64);
    }
};

template <>
struct FieldsOf<cuaug::FeatureMap> {
    using S = cuaug::FeatureMap;
    static Fields list() {
        return fields("data n_stride c_stride y_stride x_stride", &S::data, &S::n_stride, &S::c_stride, &S::y_stride,
                      &S::x_stride);
    }
};

template <>
struct FieldsOf<cuaug::RoiLevel> {
    using S = cuaug::RoiLevel;
    static Fields list() {
        return fields("values gradients height width scale min_area", &S::values, &S::gradients, &S::height, &S::width,
                      &S::scale, &S::min_area);
    }
};

template <>
struct FieldsOf<cuaug::RoiRecord> {
    using S = cuaug::RoiRecord;
    static Fields list() {
        return fields(
            "level rois pooled count bin_stride levels samples channels out_height out_width sampling_ratio aligned "
            "rotated",
            &S::level, &S::rois, &S::pooled, &S::count, &S::bin_stride, &S::levels, &S::samples, &S::channels,
            &S::out_height, &S::out_width, &S::sampling_ratio, &S::aligned, &S::rotated);
    }
};

template <>
struct FieldsOf<cuaug::RegionBounds> {
    using S = cuaug::RegionBounds;
    static Fields list() {
        return fields("level n top left bottom right", &S::level, &S::n, &S::top, &S::left, &S::bottom, &S::right);
    }
};

template <>
struct FieldsOf<cuaug::StoredBins> {
    using S = cuaug::StoredBins;
    static Fields list() { return fields("bytes", &S::bytes); }
};

template <>
struct FieldsOf<cuaug::RoiArgmaxRecord> {
    using S = cuaug::RoiArgmaxRecord;
    static Fields list() {
        return with_base<S, cuaug::RoiRecord>(fields("argmax argmax_is_int32", &S::argmax, &S::argmax_is_int32));
    }
};

template <>
struct FieldsOf<cuaug::RoiBackwardRecord> {
    using S = cuaug::RoiBackwardRecord;
    static Fields list() { return with_base<S, cuaug::RoiArgmaxRecord>(fields("bounds bins", &S::bounds, &S::bins)); }
};

}  // namespace native
