// A fuzz target for libFuzzer or mutate.cpp: reads the header, then decodes a region. The last eight bytes of the input
// choose the region and how to decode it.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "jpeg.hpp"

namespace {

constexpr jpeg::Limits limits = {1 << 20, 0, 0, 64 << 20, 50};

void require(bool condition, const char* law) {
    if (condition) return;
    std::fprintf(stderr, "broken: %s\n", law);
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
    require(out.decoded == (failure.kind == jpeg::Failure::None), "an image, or a failure");
    const bool has_reason =
        failure.reason[0] != '\0' && std::memchr(failure.reason, 0, sizeof(failure.reason)) != nullptr;
    require(out.decoded || has_reason, "a failure has a reason");
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 8) return 0;
    const std::uint8_t* choice = data + size - 8;
    jpeg::Header header;
    jpeg::Failure failure;
    if (!jpeg::read_header(data, size, limits, header, failure)) return 0;
    require(header.orientation >= 1 && header.orientation <= 8, "eight orientations");

    const Settings settings = {1 << choice[0] % 4, static_cast<jpeg::Color>(choice[1] % 3), choice[2] % 2 != 0};
    const int channels = jpeg::channels(settings.color);
    const int height = jpeg::scaled_side(static_cast<int>(header.height), settings.scale);
    const int width = jpeg::scaled_side(static_cast<int>(header.width), settings.scale);
    const auto within = [](std::uint8_t byte, long long end) { return byte * end / 256; };
    const long long top = within(choice[3], height), left = within(choice[4], width);
    const jpeg::Region region = {top, left, 1 + within(choice[5], height - top), 1 + within(choice[6], width - left)};

    const Image crop = decode(data, size, settings, region, 0xa5), again = decode(data, size, settings, region, 0x5a);
    require(crop.decoded == again.decoded, "a decode can be repeated");
    require(!crop.decoded || crop.pixels == again.pixels, "all of a result is written");
    const Image whole = decode(data, size, {settings.scale, settings.color, true}, {0, 0, height, width}, 0xa5);
    if (!whole.decoded) return 0;
    require(crop.decoded, "a region of an image that can be decoded can be decoded");
    const std::size_t row_bytes = static_cast<std::size_t>(region.width) * channels;
    for (long long y = 0; y < region.height; ++y) {
        const unsigned char* whole_row = whole.pixels.data() + ((top + y) * width + left) * channels;
        require(std::memcmp(crop.pixels.data() + y * row_bytes, whole_row, row_bytes) == 0, "a crop is a slice");
    }

    if (choice[7] % 8 == 0) {
        const jpeg::Encoding encoding = {1 + choice[7] % 100, 2, 1, false, settings.strict};
        jpeg::EncodedFile file;
        require(jpeg::encode(whole.pixels.data(), height, width, static_cast<long long>(width) * channels,
                             settings.color, encoding, file, failure),
                "a decoded image can be encoded");
    }
    return 0;
}
