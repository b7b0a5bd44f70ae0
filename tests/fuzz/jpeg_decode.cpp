// A fuzz target for libFuzzer or mutate.cpp: reads the header, decodes a region twice and the whole image once, and
// encodes some of the images again. The last eight bytes of the input choose the region, how to decode it, and whether
// to encode.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "jpeg.hpp"

namespace {

constexpr long long max_pixels = 1 << 20, max_memory = 64 << 20, max_scans = 50, max_scan_pixels = 1 << 24;
// 0: no limit of sides and file sizes
constexpr jpeg::Limits limits = {max_pixels, 0, 0, max_memory, max_scans, max_scan_pixels};

void require(bool condition, const char* property) {
    if (condition) return;
    std::fprintf(stderr, "not true: %s\n", property);
    std::abort();
}

struct Settings {
    int scale;
    jpeg::Color color;
    bool strict;
};

struct Image {
    std::vector<unsigned char> pixels;
    bool decoded;
};

// `poison`: the bytes before decoding.
Image decode(const std::uint8_t* data, std::size_t size, const Settings& settings, const jpeg::Region& region,
             unsigned char poison) {
    const long long pitch = region.width * jpeg::channels(settings.color);
    Image out{std::vector<unsigned char>(static_cast<std::size_t>(pitch * region.height), poison), false};
    jpeg::Failure failure;
    out.decoded = jpeg::decode(data, size, limits, settings.scale, region, settings.color, settings.strict,
                               out.pixels.data(), pitch, failure);
    require(out.decoded == (failure.kind == jpeg::Failure::None),
            "decode() reports a failure exactly if it returns false");
    const bool has_reason =
        failure.reason[0] != '\0' && std::memchr(failure.reason, 0, sizeof(failure.reason)) != nullptr;
    require(out.decoded || has_reason, "a failure has a reason");
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 8) return 0;
    const std::uint8_t* choices = data + size - 8;
    jpeg::Header header;
    jpeg::Failure failure;
    if (!jpeg::read_header(data, size, limits, header, failure)) return 0;
    require(header.orientation >= 1 && header.orientation <= 8, "the orientation is 1 to 8");

    const Settings settings = {1 << choices[0] % 4, static_cast<jpeg::Color>(choices[1] % 3), choices[2] % 2 != 0};
    const int channels = jpeg::channels(settings.color);
    const int height = jpeg::scaled_side(static_cast<int>(header.height), settings.scale);
    const int width = jpeg::scaled_side(static_cast<int>(header.width), settings.scale);
    const auto scale_byte = [](std::uint8_t byte, long long end) { return byte * end / 256; };
    const long long top = scale_byte(choices[3], height), left = scale_byte(choices[4], width);
    const jpeg::Region region = {top, left, 1 + scale_byte(choices[5], height - top),
                                 1 + scale_byte(choices[6], width - left)};

    const Image crop = decode(data, size, settings, region, 0xa5), again = decode(data, size, settings, region, 0x5a);
    require(crop.decoded == again.decoded, "two decodes of a file both succeed or both fail");
    require(!crop.decoded || crop.pixels == again.pixels, "decode() writes all pixels of the region");
    const Image whole = decode(data, size, {settings.scale, settings.color, true}, {0, 0, height, width}, 0xa5);
    if (!whole.decoded) return 0;
    require(crop.decoded, "an image that decodes without errors decodes in every region");
    const std::size_t row_bytes = static_cast<std::size_t>(region.width) * channels;
    for (long long y = 0; y < region.height; ++y) {
        const unsigned char* whole_row = whole.pixels.data() + ((top + y) * width + left) * channels;
        require(std::memcmp(crop.pixels.data() + y * row_bytes, whole_row, row_bytes) == 0,
                "a decoded region equals a slice of the decoded image");
    }

    if (choices[7] % 8 == 0) {
        const int quality = 1 + choices[7] % 100;
        const bool gray = false, progressive = settings.strict;
        const jpeg::Encoding encoding = {quality, 2, 1, gray, progressive};  // 2, 1: 4:2:2
        jpeg::EncodedBytes file;
        require(jpeg::encode(whole.pixels.data(), height, width, static_cast<long long>(width) * channels,
                             settings.color, encoding, file, failure),
                "a decoded image can be encoded");
    }
    return 0;
}
