#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <pybind11/pybind11.h>

namespace native {

// Records of kernels or loops, one after another, in which each call fills in its own values: addresses and numbers.
class RelocatedRecords {
public:
    using Qword = std::uint64_t;
    // (offset in the record in bytes, index of the call's value, addend)
    using RelocationArguments = std::tuple<std::size_t, std::size_t, Qword>;

    // Appends a record; returns the index of its first Qword.
    std::size_t add(std::string_view record, const std::vector<RelocationArguments>& relocations) {
        const std::size_t begin = records_.size();
        records_.resize(begin + (record.size() + sizeof(Qword) - 1) / sizeof(Qword));
        record.copy(reinterpret_cast<char*>(records_.data() + begin), record.size());
        for (const auto& [offset, value_index, addend] : relocations) {
            if (offset % sizeof(Qword) != 0 || offset / sizeof(Qword) >= record.size() / sizeof(Qword))
                throw pybind11::value_error("a relocation is eight aligned bytes of the record");
            if (value_index > max_value_index) throw pybind11::value_error("a value's index is at most 2**31 - 1");
            relocations_.push_back({begin + offset / sizeof(Qword), value_index, addend});
            value_count_ = std::max(value_count_, value_index + 1);
        }
        return begin;
    }

    void check_values(const std::vector<std::int64_t>& values) const {
        if (values.size() < value_count_)
            throw pybind11::value_error("the records need " + std::to_string(value_count_) + " values");
    }

    // The records of a call: a copy, because several threads may make calls at the same time.
    std::vector<Qword> with_values(const std::vector<std::int64_t>& values) const {
        std::vector<Qword> records = records_;
        for (const Relocation& relocation : relocations_)
            records[relocation.qword_index] = static_cast<Qword>(values[relocation.value_index]) + relocation.addend;
        return records;
    }

private:
    // Eight bytes that differ from call to call: value `value_index` of the call, plus `addend`.
    struct Relocation {
        std::size_t qword_index, value_index;
        Qword addend;
    };

    static constexpr std::size_t max_value_index = std::numeric_limits<std::int32_t>::max();

    std::vector<Qword> records_{};
    std::vector<Relocation> relocations_{};
    std::size_t value_count_ = 0;
};

}  // namespace native
