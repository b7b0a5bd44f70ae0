#pragma once

#include <cstddef>
#include <cstring>

#include "byte_view.hpp"

// Reads the EXIF orientation from the bytes of a JPEG file. libjpeg is not used, because it would keep every APP1
// segment in a linked list and walk the list to append: a file of a hundred thousand segments takes libjpeg minutes.

namespace jpeg {

// The orientation of a TIFF header and its first directory (Exif 2.32, 4.5 and 4.6.4); 1, "as stored", if it is missing
// or invalid.
inline int tiff_orientation(const ByteView& tiff) {
    constexpr unsigned orientation_tag = 0x0112, unsigned_short = 3, entry_bytes = 12;
    if (!tiff.has(0, 8)) return 1;
    const bool little_endian = std::memcmp(tiff.data, "II*\0", 4) == 0;
    if (!little_endian && std::memcmp(tiff.data, "MM\0*", 4) != 0) return 1;
    const auto number = [&](std::size_t offset, int count) {
        return little_endian ? tiff.little_endian(offset, count) : tiff.big_endian(offset, count);
    };

    std::size_t offset = number(4, 4);
    if (!tiff.has(offset, 2)) return 1;
    const unsigned entries = number(offset, 2);
    offset += 2;
    for (unsigned i = 0; i < entries && tiff.has(offset, entry_bytes); ++i, offset += entry_bytes) {
        if (number(offset, 2) != orientation_tag) continue;
        const unsigned type = number(offset + 2, 2), count = number(offset + 4, 4), value = number(offset + 8, 2);
        return type == unsigned_short && count == 1 && value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
    }
    return 1;
}

// The orientation in the first APP1 segment that holds EXIF and precedes the first scan; 1 if there is none.
inline int exif_orientation(const ByteView& file) {
    constexpr unsigned app1 = 0xe1, end_of_image = 0xd9, start_of_scan = 0xda;
    const auto has_no_length = [](unsigned marker) { return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8); };
    for (std::size_t offset = 0; file.has(offset, 2);) {
        const unsigned marker = file.data[offset + 1];
        if (file.data[offset] != 0xff || marker == 0xff || marker == 0) {
            ++offset;
            continue;
        }
        offset += 2;
        if (has_no_length(marker)) continue;
        if (marker == start_of_scan || marker == end_of_image || !file.has(offset, 2)) return 1;
        const std::size_t length = file.big_endian(offset, 2);
        if (marker == app1 && length >= 8 && file.has(offset, length) &&
            std::memcmp(file.data + offset + 2, "Exif\0", 6) == 0)
            return tiff_orientation(file.part(offset + 8, length - 8));
        offset += length < 2 ? 2 : length;
    }
    return 1;
}

}  // namespace jpeg
