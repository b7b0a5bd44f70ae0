// A fuzz target, for libFuzzer or for mutate.cpp: header, then a region in a way that the input's last bytes choose.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "jpeg.hpp"

namespace {

constexpr long long most_pixels = 1 << 20;

void require(bool condition, const char* what) {
    if (condition) return;
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
}

struct Image {
    std::vector<unsigned char> pixels;
    bool decoded;
};

Image decoded(const std::uint8_t* data, std::size_t size, const jpeg::Limits& limits, int scale, const jpeg::Region& region, jpeg::Color color, bool strict, unsigned char poison) {
    const long long pitch = region.width * jpeg::channels(color);
    Image out{std::vector<unsigned char>(static_cast<std::size_t>(pitch * region.height), poison), false};
    jpeg::Failure failure;
    out.decoded = jpeg::decode(data, size, limits, scale, region, color, strict, out.pixels.data(), pitch, failure);
    require(out.decoded == (failure.kind == jpeg::Failure::None), "an image, or a failure");
    require(out.decoded || (failure.reason[0] != '\0' && std::memchr(failure.reason, 0, sizeof(failure.reason)) != nullptr), "a failure has a reason");
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 8) return 0;
    const std::uint8_t* choice = data + size - 8;
    const jpeg::Limits limits = {most_pixels, 0, 0, 64 << 20, 50};
    jpeg::Header header;
    jpeg::Failure failure;
    if (!jpeg::read_header(data, size, limits, header, failure)) return 0;
    require(header.orientation >= 1 && header.orientation <= 8, "eight orientations");

    const int scale = 1 << choice[0] % 4;
    const auto color = static_cast<jpeg::Color>(choice[1] % 3);
    const bool strict = choice[2] % 2 != 0;
    const int height = jpeg::scaled(header.height, scale), width = jpeg::scaled(header.width, scale);
    const auto within = [](std::uint8_t byte, int below) { return static_cast<long long>(byte) * below / 256; };
    const long long top = within(choice[3], height), left = within(choice[4], width);
    const jpeg::Region region = {top, left, 1 + within(choice[5], static_cast<int>(height - top)), 1 + within(choice[6], static_cast<int>(width - left))};

    const Image one = decoded(data, size, limits, scale, region, color, strict, 0xa5), two = decoded(data, size, limits, scale, region, color, strict, 0x5a);
    require(one.decoded == two.decoded && (!one.decoded || one.pixels == two.pixels), "all of a result is written");
    const Image whole = decoded(data, size, limits, scale, {0, 0, height, width}, color, true, 0xa5);
    if (!whole.decoded) return 0;
    require(one.decoded, "a part of what can be decoded can be decoded");
    const std::size_t row = static_cast<std::size_t>(region.width) * jpeg::channels(color);
    for (long long y = 0; y < region.height; ++y)
        require(std::memcmp(one.pixels.data() + y * row, whole.pixels.data() + ((top + y) * width + left) * jpeg::channels(color), row) == 0, "a crop is a slice");

    jpeg::Encoded file;
    if (choice[7] % 8 == 0)
        require(jpeg::encode(whole.pixels.data(), height, width, static_cast<long long>(width) * jpeg::channels(color), color, {1 + choice[7] % 100, 2, 1, false, strict}, file, failure), "what was decoded can be encoded");
    return 0;
}
