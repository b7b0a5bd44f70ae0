#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "decompressor.hpp"
#include "exif.hpp"
#include "jpeg.hpp"

namespace jpeg {
namespace {

bool same_sampling(const jpeg_component_info& a, const jpeg_component_info& b) {
    return a.h_samp_factor == b.h_samp_factor && a.v_samp_factor == b.v_samp_factor;
}

const char* subsampling(const jpeg_decompress_struct& info) {
    if (info.num_components == 1) return "gray";
    const jpeg_component_info* component = info.comp_info;
    const jpeg_component_info &luma = component[0], &chroma = component[1];
    for (int i = 1; i < info.num_components; ++i) {
        const bool is_black_sampled_as_luma = i == 3 && same_sampling(component[i], luma);
        if (!is_black_sampled_as_luma && !same_sampling(component[i], chroma)) return "other";
    }
    if (luma.h_samp_factor % chroma.h_samp_factor != 0 || luma.v_samp_factor % chroma.v_samp_factor != 0)
        return "other";
    switch (luma.h_samp_factor / chroma.h_samp_factor * 10 + luma.v_samp_factor / chroma.v_samp_factor) {
        case 11:
            return "444";
        case 12:
            return "440";
        case 21:
            return "422";
        case 22:
            return "420";
        case 41:
            return "411";
        case 42:
            return "410";
        default:
            return "other";
    }
}

const char* color_space(const jpeg_decompress_struct& info) {
    switch (info.jpeg_color_space) {
        case JCS_GRAYSCALE:
            return "gray";
        case JCS_RGB:
            return "rgb";
        case JCS_YCbCr:
            return "ycbcr";
        case JCS_CMYK:
            return "cmyk";
        case JCS_YCCK:
            return "ycck";
        default:
            return "other";
    }
}

template <std::size_t N>
std::int64_t index_of(std::string_view name, const char* const (&names)[N]) {
    std::size_t i = 0;
    while (i < N && name != names[i]) ++i;
    return static_cast<std::int64_t>(i);
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
    header.subsampling = index_of(subsampling(info), subsamplings);
    header.color_space = index_of(color_space(info), color_spaces);
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
