#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>

// JPEG through libjpeg-turbo's libjpeg API. The functions read and write memory of the caller, except that `encode`
// allocates its result. They may be called from any thread, do not throw and keep no state between calls: each image
// has its own decompressor.

namespace jpeg {

// Limits on what a file may declare or need; 0 or less: no limit.
struct Limits {
    long long max_pixels, max_side;
    long long max_bytes;   // of the file
    long long max_memory;  // bytes of the coefficients, which a file of several scans needs
    long long max_scans;
    long long max_scan_pixels;  // pixels of the image, times the number of its scans; not checked for one scan
};

struct Failure {
    // Python raises DecodeError, ImageTooLarge or UnsupportedImage.
    enum Kind { None, Decode, TooLarge, Unsupported } kind = None;
    char reason[256] = "";
};

enum class Subsampling { S444, S422, S420, S440, S411, S410, Gray, Other };
enum class ColorSpace { Gray, YCbCr, Rgb, Cmyk, Ycck, Other };

// The names of the enumerators in Python, in the same order.
inline constexpr const char* subsamplings[] = {"444", "422", "420", "440", "411", "410", "gray", "other"};
inline constexpr const char* color_spaces[] = {"gray", "ycbcr", "rgb", "cmyk", "ycck", "other"};
static_assert(std::size(subsamplings) == static_cast<std::size_t>(Subsampling::Other) + 1);
static_assert(std::size(color_spaces) == static_cast<std::size_t>(ColorSpace::Other) + 1);

struct Header {
    std::int64_t height, width, channels;   // as stored; channels: the components of the file
    std::int64_t subsampling, color_space;  // values of the enumerations above
    std::int64_t progressive;
    std::int64_t orientation;  // EXIF's, 1 to 8; 1 if the file has none
    std::int64_t complete;     // whether the file ends with an end-of-image marker
    std::int64_t bytes;        // of the file
};

// A part of the scaled image, in its pixels.
struct Region {
    long long top, left, height, width;
};

enum class Color { Gray, Rgb, Bgr };

inline int channels(Color color) { return color == Color::Gray ? 1 : 3; }

// A side of the image decoded at 1 / `scale` of its resolution.
inline int scaled_side(int side, int scale) {
    return static_cast<int>((static_cast<long long>(side) + scale - 1) / scale);
}

bool read_header(const unsigned char* data, std::size_t bytes, const Limits& limits, Header& header,
                 Failure& failure) noexcept;

// Decodes a region into rows that are `pitch` bytes apart, with the same values as a decode of the whole image. `scale`
// is 1, 2, 4 or 8. Data below the region are not read unless the image has several scans. If `strict`, a warning of
// libjpeg (such as pixels that are missing from the data) is a failure.
bool decode(const unsigned char* data, std::size_t bytes, const Limits& limits, int scale, const Region& region,
            Color color, bool strict, unsigned char* out, long long pitch, Failure& failure) noexcept;

struct Encoding {
    int quality;               // 1 to 100
    int horizontal, vertical;  // luma samples for each chroma sample along x and y: 2, 2 is 4:2:0
    bool gray, progressive;
};

// A file in memory, which `encode` allocates.
struct EncodedBytes {
    unsigned char* data = nullptr;
    std::size_t bytes = 0;

    EncodedBytes() = default;
    EncodedBytes(EncodedBytes&& other) noexcept : data(other.data), bytes(other.bytes) { other.data = nullptr; }
    EncodedBytes(const EncodedBytes&) = delete;
    ~EncodedBytes() { std::free(data); }
};

// Encodes an image of 1 or 3 channels. A gray image is stored as gray whatever `encoding` says.
bool encode(const unsigned char* image, int height, int width, long long pitch, Color color, const Encoding& encoding,
            EncodedBytes& out, Failure& failure) noexcept;

std::string version();  // of the libjpeg-turbo whose headers this was compiled with, such as "2.1.5"

}  // namespace jpeg
