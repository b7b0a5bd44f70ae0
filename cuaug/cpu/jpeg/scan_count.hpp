#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "byte_view.hpp"

namespace jpeg {

// The number of scans, at most `limit` + 1. `data`: the file from the first scan's entropy-coded data on. Finds the
// markers that libjpeg finds: in entropy-coded data, 0 follows each 0xff that is no marker, and the contents of a
// segment, such as a thumbnail, are skipped. Takes 2 us for 74 kB.
inline long long count_scans(const ByteView& data, long long limit) {
    constexpr unsigned first_with_length = 0xc0, first_restart = 0xd0, start_of_image = 0xd8, end_of_image = 0xd9,
                       start_of_scan = 0xda;
    long long scans = 1;
    for (std::size_t offset = 0; scans <= limit && data.has(offset, 2);) {
        const void* const prefix = std::memchr(data.data + offset, 0xff, data.size - offset - 1);
        if (prefix == nullptr) break;
        offset = static_cast<std::size_t>(static_cast<const unsigned char*>(prefix) - data.data) + 1;
        const unsigned marker = data.data[offset];
        if (marker == 0xff) continue;  // a fill byte
        ++offset;
        if (marker < first_with_length || (marker >= first_restart && marker <= start_of_image)) continue;
        if (marker == end_of_image) break;
        if (marker == start_of_scan) ++scans;
        if (!data.has(offset, 2)) break;
        offset += std::max(data.big_endian(offset, 2), 2u);
    }
    return scans;
}

}  // namespace jpeg
