#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// JPEG by libjpeg-turbo's libjpeg API. Plain functions over memory of the caller, for any thread; no function throws,
// and none keeps anything: each image has a decompressor of its own.

namespace jpeg {

// What encoded data may claim; 0 or less lifts a limit.
struct Limits {
    long long pixels, side, bytes, memory;  // memory: of the decoder, in bytes
    int scans;
};

struct Failure {
    enum Kind { None, Decode, TooLarge, Unsupported } kind = None;
    char reason[256] = "";
};

inline constexpr const char* subsamplings[] = {"444", "422", "420", "440", "411", "410", "gray", "other"};
inline constexpr const char* spaces[] = {"gray", "ycbcr", "rgb", "cmyk", "ycck", "other"};

struct Header {
    std::int64_t height, width, channels;  // as stored; channels 1, 3 or 4
    std::int64_t subsampling, space;       // places in the two lists
    std::int64_t progressive;
    std::int64_t orientation;  // EXIF's, 1 to 8; 1 where there is none
    std::int64_t ended;        // whether the last bytes are those of a whole file
    std::int64_t bytes;        // of the file
};

// In pixels of the scaled image.
struct Region {
    long long top, left, height, width;
};

enum class Color { Gray, Rgb, Bgr };

inline int channels(Color color) { return color == Color::Gray ? 1 : 3; }

// A side of the image decoded at one over `scale`.
inline int scaled(int side, int scale) { return static_cast<int>((static_cast<long long>(side) + scale - 1) / scale); }

bool read_header(const unsigned char* data, std::size_t bytes, const Limits& limits, Header& header,
                 Failure& failure) noexcept;

// Decodes a region, the values of a decode of everything, into rows that are `pitch` bytes apart. `scale` is 1, 2, 4
// or 8. What is beneath the region is not read. A warning of libjpeg, pixels that the data do not say, is a failure if
// `strict`.
bool decode(const unsigned char* data, std::size_t bytes, const Limits& limits, int scale, const Region& region,
            Color color, bool strict, unsigned char* out, long long pitch, Failure& failure) noexcept;

// How an image is stored.
struct Encoding {
    int quality;               // 1 to 100
    int horizontal, vertical;  // of chroma: 2, 2 is 4:2:0
    bool gray, progressive;
};

// A file, which grows as it is written.
struct Encoded {
    unsigned char* data = nullptr;
    std::size_t bytes = 0;

    Encoded() = default;
    Encoded(Encoded&& other) noexcept : data(other.data), bytes(other.bytes) { other.data = nullptr; }
    Encoded(const Encoded&) = delete;
    ~Encoded() { std::free(data); }
};

// An image of 1 or 3 channels; a gray one is stored as such whatever `encoding` says.
bool encode(const unsigned char* image, int height, int width, long long pitch, Color color, const Encoding& encoding,
            Encoded& out, Failure& failure) noexcept;

const char* version();  // of the library the headers were of, such as "2.1.5"

}  // namespace jpeg
