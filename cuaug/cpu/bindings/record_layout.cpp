// The offset and the size of every field of the records and table rows that Python packs or reads as bytes, so that
// tests can compare both sides. The layout of CUlaunchConfig, which Python packs too, is CUDA's.

#include "record_layout.hpp"

#include <pybind11/pybind11.h>

#include "../jpeg/decode_region.hpp"
#include "../jpeg/jpeg.hpp"
#include "bindings.hpp"
#include "detection_record_fields.hpp"
#include "image_record_fields.hpp"
#include "numpy_rows.hpp"

namespace py = pybind11;

namespace native {

template <>
struct FieldsOf<jpeg::Header> {
    using S = jpeg::Header;
    static Fields list() {
        return fields("height width channels subsampling color_space progressive orientation complete bytes",
                      &S::height, &S::width, &S::channels, &S::subsampling, &S::color_space, &S::progressive,
                      &S::orientation, &S::complete, &S::bytes);
    }
};

template <>
struct FieldsOf<jpeg::Box> {
    using S = jpeg::Box;
    static Fields list() { return fields("top left height width", &S::top, &S::left, &S::height, &S::width); }
};

template <>
struct FieldsOf<jpeg::Size> {
    using S = jpeg::Size;
    static Fields list() { return fields("height width", &S::height, &S::width); }
};

template <>
struct FieldsOf<jpeg::DecodeRegion> {
    using S = jpeg::DecodeRegion;
    static Fields list() {
        return fields("scale top left height width", &S::scale, &S::top, &S::left, &S::height, &S::width);
    }
};

template <>
struct FieldsOf<RegionToDecode> {
    using S = RegionToDecode;
    static Fields list() {
        return fields("file scale top left height width address pitch", &S::file, &S::scale, &S::top, &S::left,
                      &S::height, &S::width, &S::address, &S::pitch);
    }
};

template <>
struct FieldsOf<NvjpegImage> {
    using S = NvjpegImage;
    static Fields list() { return fields("file address pitch", &S::file, &S::address, &S::pitch); }
};

namespace {

template <class Struct>
void add(py::dict& layout, const char* name) {
    py::dict field_layout;
    for (const Field& field : FieldsOf<Struct>::list())
        field_layout[py::str(field.name)] = py::make_tuple(field.offset, field.size);
    layout[name] = field_layout;
}

// Struct name -> field name -> (offset, size).
py::dict record_layout() {
    py::dict layout;
    add<cuaug::ParameterTable>(layout, "ParameterTable");
    add<cuaug::TypedArray>(layout, "TypedArray");
    add<cuaug::BatchView>(layout, "BatchView");
    add<cuaug::RaggedImage>(layout, "RaggedImage");
    add<cuaug::Fill>(layout, "Fill");
    add<cuaug::BatchRecord>(layout, "BatchRecord");
    add<cuaug::BatchWithFill>(layout, "BatchWithFill");
    add<cuaug::PointwiseRecord>(layout, "PointwiseRecord");
    add<cuaug::BlendRecord>(layout, "BlendRecord");
    add<cuaug::GaussianBlurRecord>(layout, "GaussianBlurRecord");
    add<cuaug::LutRecord>(layout, "LutRecord");
    add<cuaug::ResampleRecord>(layout, "ResampleRecord");
    add<cuaug::MatrixParameter<2>>(layout, "MatrixParameter<2>");
    add<cuaug::MatrixParameter<3>>(layout, "MatrixParameter<3>");
    add<cuaug::FastDivisor>(layout, "FastDivisor");
    add<cuaug::RegionColumn>(layout, "RegionColumn");
    add<cuaug::SampleOverrideRecord>(layout, "SampleOverrideRecord");
    add<cuaug::Affine>(layout, "Affine");
    add<cuaug::Perspective>(layout, "Perspective");
    add<cuaug::CoordinateMap>(layout, "CoordinateMap");
    add<cuaug::CoordinateMap64>(layout, "CoordinateMap64");
    add<cuaug::Instruction>(layout, "Instruction");
    add<cuaug::WarpRecord<cuaug::Affine>>(layout, "WarpRecord<Affine>");
    add<cuaug::WarpRecord<cuaug::Perspective>>(layout, "WarpRecord<Perspective>");
    add<cuaug::WarpRecord<cuaug::CoordinateMap>>(layout, "WarpRecord<CoordinateMap>");
    add<cuaug::WarpRecord<cuaug::CoordinateMap64>>(layout, "WarpRecord<CoordinateMap64>");
    add<cuaug::BoxCopy>(layout, "BoxCopy");
    add<cuaug::CopyBoxesRecord>(layout, "CopyBoxesRecord");
    add<cuaug::ImagePlacement>(layout, "ImagePlacement");
    add<cuaug::PlaceImagesRecord>(layout, "PlaceImagesRecord");
    add<cuaug::DrawRecord>(layout, "DrawRecord");
    add<cuaug::SampleNumbers>(layout, "SampleNumbers");
    add<cuaug::MatrixBuilderRecord>(layout, "MatrixBuilderRecord");
    add<cuaug::BoxMove>(layout, "BoxMove");
    add<cuaug::MoveBoxesRecord>(layout, "MoveBoxesRecord");
    add<cuaug::NmsRecord>(layout, "NmsRecord");
    add<cuaug::SoftNmsRecord>(layout, "SoftNmsRecord");
    add<cuaug::BoxPairsRecord>(layout, "BoxPairsRecord");
    add<cuaug::FeatureMap>(layout, "FeatureMap");
    add<cuaug::RoiLevel>(layout, "RoiLevel");
    add<cuaug::RoiRecord>(layout, "RoiRecord");
    add<cuaug::RegionBounds>(layout, "RegionBounds");
    add<cuaug::StoredBins>(layout, "StoredBins");
    add<cuaug::RoiArgmaxRecord>(layout, "RoiArgmaxRecord");
    add<cuaug::RoiBackwardRecord>(layout, "RoiBackwardRecord");
    add<jpeg::Header>(layout, "jpeg::Header");
    add<jpeg::Box>(layout, "jpeg::Box");
    add<jpeg::Size>(layout, "jpeg::Size");
    add<jpeg::DecodeRegion>(layout, "jpeg::DecodeRegion");
    add<RegionToDecode>(layout, "RegionToDecode");
    add<NvjpegImage>(layout, "NvjpegImage");
    return layout;
}

}  // namespace

void bind_record_layout(py::module_& module) { module.def("record_layout", &record_layout); }

}  // namespace native
