#pragma once

#include <cstddef>
#include <cstdio>

#include <jpeglib.h>

#include "error_trap.hpp"
#include "jpeg.hpp"

namespace jpeg {

// One image: first `read_header`, then `start`, then `read`. Each returns whether it succeeded.
class Decompressor {
public:
    Decompressor(const Limits& limits, bool strict, Failure& failure)
        : limits_(limits), strict_(strict), failure_(failure), trap_(failure, strict) {}
    ~Decompressor() { jpeg_destroy_decompress(&info_); }
    Decompressor(const Decompressor&) = delete;

    const jpeg_decompress_struct& info() const { return info_; }

    bool read_header(const unsigned char* data, std::size_t bytes);
    // Decodes up to the first row. All scans of an image that has several are read here.
    bool start(int scale, Color color);
    bool read(const Region& region, Color color, unsigned char* out, long long pitch);

private:
    bool within_limits();
    bool within_scan_limits();
    long long coefficient_bytes();
    bool can_decode_partially() const;
    JDIMENSION crop_columns(const Region& region);
    void read_row(unsigned char* row);

    const Limits limits_;
    const bool strict_;
    Failure& failure_;
    ErrorTrap trap_;
    jpeg_decompress_struct info_{};
};

}  // namespace jpeg
