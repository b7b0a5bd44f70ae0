#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include <pybind11/pybind11.h>

namespace native {

// A record that Python packed. Copied, because the bytes of a Python object may lie at any address.
template <class Record>
Record unpack_record(const pybind11::bytes& bytes) {
    static_assert(std::is_trivially_copyable_v<Record>);
    const std::string_view view = bytes;
    if (view.size() != sizeof(Record))
        throw pybind11::value_error("the record has " + std::to_string(view.size()) + " bytes, expected " +
                                    std::to_string(sizeof(Record)));
    Record record;
    std::memcpy(&record, view.data(), sizeof(Record));
    return record;
}

}  // namespace native
