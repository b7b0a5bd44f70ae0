#include <cstddef>
#include <cstdint>
#include <string>

#include "decompressor.hpp"
#include "exif.hpp"
#include "jpeg.hpp"

namespace jpeg {
namespace {

bool same_sampling(const jpeg_component_info& a, const jpeg_component_info& b) {
    return a.h_samp_factor == b.h_samp_factor && a.v_samp_factor == b.v_samp_factor;
}

Subsampling subsampling_of(const jpeg_decompress_struct& info) {
    if (info.num_components == 1) return Subsampling::Gray;
    const jpeg_component_info* component = info.comp_info;
    const jpeg_component_info &luma = component[0], &chroma = component[1];
    for (int i = 1; i < info.num_components; ++i) {
        const bool is_black_sampled_as_luma = i == 3 && same_sampling(component[i], luma);
        if (!is_black_sampled_as_luma && !same_sampling(component[i], chroma)) return Subsampling::Other;
    }
    if (luma.h_samp_factor % chroma.h_samp_factor != 0 || luma.v_samp_factor % chroma.v_samp_factor != 0)
        return Subsampling::Other;
    switch (luma.h_samp_factor / chroma.h_samp_factor * 10 + luma.v_samp_factor / chroma.v_samp_factor) {
        case 11:
            return Subsampling::S444;
        case 12:
            return Subsampling::S440;
        case 21:
            return Subsampling::S422;
        case 22:
            return Subsampling::S420;
        case 41:
            return Subsampling::S411;
        case 42:
            return Subsampling::S410;
        default:
            return Subsampling::Other;
    }
}

ColorSpace color_space_of(const jpeg_decompress_struct& info) {
    switch (info.jpeg_color_space) {
        case JCS_GRAYSCALE:
            return ColorSpace::Gray;
        case JCS_RGB:
            return ColorSpace::Rgb;
        case JCS_YCbCr:
            return ColorSpace::YCbCr;
        case JCS_CMYK:
            return ColorSpace::Cmyk;
        case JCS_YCCK:
            return ColorSpace::Ycck;
        default:
            return ColorSpace::Other;
    }
}

}  // namespace

bool read_header(const unsigned char* data, std::size_t bytes, const Limits& limits, Header& header,
                 Failure& failure) noexcept {
    Decompressor decompressor(limits, /*strict=*/false, failure);
    if (!decompressor.read_header(data, bytes)) return false;
    const jpeg_decompress_struct& info = decompressor.info();
    header.height = info.image_height;
    header.width = info.image_width;
    header.channels = info.num_components;
    header.subsampling = static_cast<std::int64_t>(subsampling_of(info));
    header.color_space = static_cast<std::int64_t>(color_space_of(info));
    header.progressive = info.progressive_mode != FALSE;
    header.orientation = exif_orientation({data, bytes});
    header.complete = data[bytes - 2] == 0xff && data[bytes - 1] == 0xd9;
    header.bytes = static_cast<std::int64_t>(bytes);
    return true;
}

std::string version() {
    constexpr int number = LIBJPEG_TURBO_VERSION_NUMBER;  // 2001005 is 2.1.5
    return std::to_string(number / 1000000) + "." + std::to_string(number / 1000 % 1000) + "." +
           std::to_string(number % 1000);
}

}  // namespace jpeg
