#pragma once

#include <cstddef>
#include <cstring>

// EXIF's orientation, read from the bytes of a JPEG. libjpeg would keep every APP1 there is, in a list that it appends
// to from the front: a file of a hundred thousand of them takes it minutes.

namespace jpeg {

struct Bytes {
    const unsigned char* data;
    std::size_t size;

    bool has(std::size_t at, std::size_t count) const { return at <= size && count <= size - at; }
    Bytes from(std::size_t at, std::size_t count) const { return {data + at, count}; }
    unsigned big(std::size_t at, int count) const {
        unsigned out = 0;
        for (int i = 0; i < count; ++i) out = out << 8 | data[at + i];
        return out;
    }
    unsigned little(std::size_t at, int count) const {
        unsigned out = 0;
        for (int i = count; i-- > 0;) out = out << 8 | data[at + i];
        return out;
    }
};

// Of a TIFF header and its first directory (Exif 2.32, 4.5 and 4.6.4); 1, "as stored", wherever they make no sense.
inline int tiff_orientation(const Bytes& tiff) {
    constexpr unsigned tag = 0x0112, unsigned_short = 3;
    if (!tiff.has(0, 8)) return 1;
    const bool little = std::memcmp(tiff.data, "II*\0", 4) == 0;
    if (!little && std::memcmp(tiff.data, "MM\0*", 4) != 0) return 1;
    const auto number = [&](std::size_t at, int count) {
        return little ? tiff.little(at, count) : tiff.big(at, count);
    };

    std::size_t at = number(4, 4);
    if (!tiff.has(at, 2)) return 1;
    const unsigned entries = number(at, 2);
    at += 2;
    for (unsigned i = 0; i < entries && tiff.has(at, 12); ++i, at += 12) {
        if (number(at, 2) != tag) continue;
        const unsigned value = number(at + 8, 2);
        return number(at + 2, 2) == unsigned_short && number(at + 4, 4) == 1 && value >= 1 && value <= 8
                   ? static_cast<int>(value)
                   : 1;
    }
    return 1;
}

// Of the first APP1 segment that holds EXIF, before the first scan.
inline int orientation(const Bytes& file) {
    constexpr unsigned app1 = 0xe1, end_of_image = 0xd9, scan = 0xda;
    const auto stands_alone = [](unsigned marker) { return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8); };
    for (std::size_t at = 0; file.has(at, 2);) {
        const unsigned marker = file.data[at + 1];
        if (file.data[at] != 0xff || marker == 0xff || marker == 0) {
            ++at;
            continue;
        }
        at += 2;
        if (stands_alone(marker)) continue;
        if (marker == scan || marker == end_of_image || !file.has(at, 2)) return 1;
        const std::size_t length = file.big(at, 2);
        if (marker == app1 && length >= 8 && file.has(at, length) && std::memcmp(file.data + at + 2, "Exif\0", 6) == 0)
            return tiff_orientation(file.from(at + 8, length - 8));
        at += length < 2 ? 2 : length;
    }
    return 1;
}

}  // namespace jpeg
