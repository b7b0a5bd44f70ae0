#pragma once

#include "geometry/geometries.cuh"
#include "records/batch.cuh"
#include "records/blend.cuh"
#include "records/copy_boxes.cuh"
#include "draws/instruction.cuh"
#include "records/draw.cuh"
#include "records/gaussian_blur.cuh"
#include "records/lut.cuh"
#include "records/place_images.cuh"
#include "records/matrix.cuh"
#include "records/matrix_builder.cuh"
#include "records/parameter_table.cuh"
#include "records/pointwise.cuh"
#include "records/resample.cuh"
#include "records/warp_image.cuh"
#include "record_layout.hpp"

namespace native {

template <>
struct FieldsOf<cuaug::ParameterTable> {
    using S = cuaug::ParameterTable;
    static Fields list() {
        return fields("data n_stride y_stride x_stride is_double", &S::data, &S::n_stride, &S::y_stride, &S::x_stride,
                      &S::is_double);
    }
};

template <>
struct FieldsOf<cuaug::BatchView> {
    using S = cuaug::BatchView;
    static Fields list() {
        return fields("data n_stride t_stride c_stride y_stride x_stride", &S::data, &S::n_stride, &S::t_stride,
                      &S::c_stride, &S::y_stride, &S::x_stride);
    }
};

template <>
struct FieldsOf<cuaug::RaggedImage> {
    using S = cuaug::RaggedImage;
    static Fields list() {
        return fields("data c_stride y_stride x_stride height width vector_elements unused", &S::data, &S::c_stride,
                      &S::y_stride, &S::x_stride, &S::height, &S::width, &S::vector_elements, &S::unused);
    }
};

template <>
struct FieldsOf<cuaug::Fill> {
    using S = cuaug::Fill;
    static Fields list() { return fields("table value", &S::table, &S::value); }
};

template <>
struct FieldsOf<cuaug::BatchRecord> {
    using S = cuaug::BatchRecord;
    static Fields list() {
        return fields(
            "in out samples frames channels in_height in_width out_height out_width in_vector_elements "
            "out_vector_elements",
            &S::in, &S::out, &S::samples, &S::frames, &S::channels, &S::in_height, &S::in_width, &S::out_height,
            &S::out_width, &S::in_vector_elements, &S::out_vector_elements);
    }
};

template <>
struct FieldsOf<cuaug::BatchWithFill> {
    using S = cuaug::BatchWithFill;
    static Fields list() { return with_base<S, cuaug::BatchRecord>(fields("fill", &S::fill)); }
};

template <>
struct FieldsOf<cuaug::PointwiseRecord> {
    using S = cuaug::PointwiseRecord;
    static Fields list() {
        return with_base<S, cuaug::BatchRecord>(fields("parameters value partial_sums partial_count mean_column",
                                                       &S::parameters, &S::value, &S::partial_sums, &S::partial_count,
                                                       &S::mean_column));
    }
};

template <>
struct FieldsOf<cuaug::BlendRecord> {
    using S = cuaug::BlendRecord;
    static Fields list() {
        return with_base<S, cuaug::PointwiseRecord>(
            fields("branch remainder_fractions branches", &S::branch, &S::remainder_fractions, &S::branches));
    }
};

template <>
struct FieldsOf<cuaug::GaussianBlurRecord> {
    using S = cuaug::GaussianBlurRecord;
    static Fields list() {
        return with_base<S, cuaug::BatchRecord>(
            fields("sigma value op_parameters kernel_width kernel_height tile_width tile_height", &S::sigma, &S::value,
                   &S::op_parameters, &S::kernel_width, &S::kernel_height, &S::tile_width, &S::tile_height));
    }
};

template <>
struct FieldsOf<cuaug::LutRecord> {
    using S = cuaug::LutRecord;
    static Fields list() {
        return with_base<S, cuaug::BatchRecord>(fields("table table_n_stride table_c_stride table_x_stride", &S::table,
                                                       &S::table_n_stride, &S::table_c_stride, &S::table_x_stride));
    }
};

template <>
struct FieldsOf<cuaug::ResampleRecord> {
    using S = cuaug::ResampleRecord;
    static Fields list() {
        return with_base<S, cuaug::BatchWithFill>(fields("box value op_parameters has_window antialias", &S::box,
                                                         &S::value, &S::op_parameters, &S::has_window, &S::antialias));
    }
};

template <int Rows>
struct FieldsOf<cuaug::MatrixParameter<Rows>> {
    using S = cuaug::MatrixParameter<Rows>;
    static Fields list() {
        return fields("matrix value inverse half_pixel_centers", &S::matrix, &S::value, &S::inverse,
                      &S::half_pixel_centers);
    }
};

template <>
struct FieldsOf<cuaug::CoordinateMap> {
    using S = cuaug::CoordinateMap;
    static Fields list() {
        return fields(
            "map_x map_y scale_x scale_y scale_x_float32 scale_y_float32 relative_float32 relative "
            "in_height in_width",
            &S::map_x, &S::map_y, &S::scale_x, &S::scale_y, &S::scale_x_float32, &S::scale_y_float32,
            &S::relative_float32, &S::relative, &S::in_height, &S::in_width);
    }
};

template <>
struct FieldsOf<cuaug::Affine> {
    using S = cuaug::Affine;
    static Fields list() { return with_base<S, cuaug::MatrixParameter<2>>({}); }
};

template <>
struct FieldsOf<cuaug::Perspective> {
    using S = cuaug::Perspective;
    static Fields list() { return with_base<S, cuaug::MatrixParameter<3>>({}); }
};

template <>
struct FieldsOf<cuaug::CoordinateMap64> {
    using S = cuaug::CoordinateMap64;
    static Fields list() { return with_base<S, cuaug::CoordinateMap>({}); }
};

template <>
struct FieldsOf<cuaug::FastDivisor> {
    using S = cuaug::FastDivisor;
    static Fields list() { return fields("factor shift", &S::factor, &S::shift); }
};

template <>
struct FieldsOf<cuaug::RegionColumn> {
    using S = cuaug::RegionColumn;
    static Fields list() { return fields("region_rows regions", &S::region_rows, &S::regions); }
};

template <>
struct FieldsOf<cuaug::SampleOverrideRecord> {
    using S = cuaug::SampleOverrideRecord;
    static Fields list() { return fields("sharpness uses_lut lut", &S::sharpness, &S::uses_lut, &S::lut); }
};

template <class Geometry>
struct FieldsOf<cuaug::WarpRecord<Geometry>> {
    using S = cuaug::WarpRecord<Geometry>;
    static Fields list() {
        return with_base<S, cuaug::BatchWithFill>(fields(
            "geometry window parameters partial_sums sample_override full_width remainder slice_divisor row_divisor "
            "whole_regions",
            &S::geometry, &S::window, &S::parameters, &S::partial_sums, &S::sample_override, &S::full_width,
            &S::remainder, &S::slice_divisor, &S::row_divisor, &S::whole_regions));
    }
};

template <>
struct FieldsOf<cuaug::BoxCopy> {
    using S = cuaug::BoxCopy;
    static Fields list() {
        return fields("from to from_pitch to_pitch rows bytes", &S::from, &S::to, &S::from_pitch, &S::to_pitch,
                      &S::rows, &S::bytes);
    }
};

template <>
struct FieldsOf<cuaug::CopyBoxesRecord> {
    using S = cuaug::CopyBoxesRecord;
    static Fields list() { return fields("copies", &S::copies); }
};

template <>
struct FieldsOf<cuaug::ImagePlacement> {
    using S = cuaug::ImagePlacement;
    static Fields list() {
        return fields("from to from_pitch from_plane rows bytes top left to_rows to_bytes", &S::from, &S::to,
                      &S::from_pitch, &S::from_plane, &S::rows, &S::bytes, &S::top, &S::left, &S::to_rows,
                      &S::to_bytes);
    }
};

template <>
struct FieldsOf<cuaug::PlaceImagesRecord> {
    using S = cuaug::PlaceImagesRecord;
    static Fields list() {
        return fields(
            "placements first from_n_stride from_t_stride to_n_stride to_t_stride fill frames planes pixel_channels "
            "unused",
            &S::placements, &S::first, &S::from_n_stride, &S::from_t_stride, &S::to_n_stride, &S::to_t_stride, &S::fill,
            &S::frames, &S::planes, &S::pixel_channels, &S::unused);
    }
};

template <>
struct FieldsOf<cuaug::Instruction> {
    using S = cuaug::Instruction;
    static Fields list() {
        return fields("opcode position index gate_column column sample_arguments gate_value", &S::opcode, &S::position,
                      &S::index, &S::gate_column, &S::column, &S::sample_arguments, &S::gate_value);
    }
};

template <>
struct FieldsOf<cuaug::DrawRecord> {
    using S = cuaug::DrawRecord;
    static Fields list() {
        return fields(
            "program table ids sample_arguments replays seed step first_id samples sample_arguments_stride length "
            "table_stride drawn_columns fits_in_shared",
            &S::program, &S::table, &S::ids, &S::sample_arguments, &S::replays, &S::seed, &S::step, &S::first_id,
            &S::samples, &S::sample_arguments_stride, &S::length, &S::table_stride, &S::drawn_columns,
            &S::fits_in_shared);
    }
};

template <>
struct FieldsOf<cuaug::SampleNumbers> {
    using S = cuaug::SampleNumbers;
    static Fields list() { return fields("table value rows", &S::table, &S::value, &S::rows); }
};

template <>
struct FieldsOf<cuaug::MatrixBuilderRecord> {
    using S = cuaug::MatrixBuilderRecord;
    static Fields list() {
        return fields("input out failures samples items points error_bound item_size is_double option input_count",
                      &S::input, &S::out, &S::failures, &S::samples, &S::items, &S::points, &S::error_bound,
                      &S::item_size, &S::is_double, &S::option, &S::input_count);
    }
};

}  // namespace native
