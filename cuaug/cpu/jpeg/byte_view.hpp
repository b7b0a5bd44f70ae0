#pragma once

#include <cstddef>

namespace jpeg {

// Bytes of a file. The other functions read without a check: call `has` first.
struct ByteView {
    const unsigned char* data;
    std::size_t size;

    bool has(std::size_t offset, std::size_t count) const { return offset <= size && count <= size - offset; }
    ByteView part(std::size_t offset, std::size_t count) const { return {data + offset, count}; }
    unsigned big_endian(std::size_t offset, int count) const {
        unsigned value = 0;
        for (int i = 0; i < count; ++i) value = value << 8 | data[offset + i];
        return value;
    }
    unsigned little_endian(std::size_t offset, int count) const {
        unsigned value = 0;
        for (int i = count; i-- > 0;) value = value << 8 | data[offset + i];
        return value;
    }
};

}  // namespace jpeg
