// Launches all kernels of a recipe in one call from Python: a call for each kernel would cost more than the launch.
// Python passes the address of cuLaunchKernelEx.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings.hpp"

namespace py = pybind11;

namespace {

// CUlaunchConfig of cuda.h.
struct LaunchConfig {
    unsigned int grid[3], block[3], shared_bytes;
    void* stream;
    const void* attributes;  // memory that _gpu/launch.py never frees
    unsigned int attribute_count;
};

using LaunchKernel = int (*)(const LaunchConfig* config, void* kernel, void** arguments,
                             void** extra);  // cuLaunchKernelEx

using Qword = std::uint64_t;

// Eight bytes of the records that differ from call to call: value `value_index` of the call, plus `addend`.
struct Relocation {
    std::size_t qword_index, value_index;
    Qword addend;
};

struct Launch {
    void* kernel;
    LaunchConfig config;
    std::size_t record_begin;  // index of the first Qword of its record
};

class LaunchSequence {
public:
    // (offset in the record in bytes, index of the call's value, addend)
    using RelocationArguments = std::tuple<std::size_t, std::size_t, Qword>;
    // (kernel, configuration, record, relocations). The record is the kernel's only argument.
    using LaunchArguments = std::tuple<std::uintptr_t, py::bytes, py::bytes, std::vector<RelocationArguments>>;

    LaunchSequence(std::uintptr_t launch_kernel, const std::vector<LaunchArguments>& launches)
        : launch_kernel_(reinterpret_cast<LaunchKernel>(launch_kernel)) {
        for (const auto& [kernel, config, record, relocations] : launches)
            add(reinterpret_cast<void*>(kernel), config, record, relocations);
    }

    // Returns the status of the first launch that fails, after which there are no more launches; 0 if none fails.
    int run(std::uintptr_t stream, const std::vector<std::int64_t>& values) const {
        if (values.size() < value_count_)
            throw py::value_error("the launches need " + std::to_string(value_count_) + " values");
        // The driver waits if its queue is full, perhaps for a host function that needs the GIL.
        const py::gil_scoped_release release;
        std::vector<Qword> records = records_;  // a copy, because several threads may run the sequence
        for (const Relocation& relocation : relocations_)
            records[relocation.qword_index] = static_cast<Qword>(values[relocation.value_index]) + relocation.addend;
        for (const Launch& launch : launches_) {
            LaunchConfig config = launch.config;
            config.stream = reinterpret_cast<void*>(stream);
            void* argument = records.data() + launch.record_begin;
            if (const int status = launch_kernel_(&config, launch.kernel, &argument, nullptr)) return status;
        }
        return 0;
    }

private:
    void add(void* kernel, std::string_view config, std::string_view record,
             const std::vector<RelocationArguments>& relocations) {
        Launch launch = {kernel, {}, records_.size()};
        if (config.size() != sizeof(LaunchConfig))
            throw py::value_error("a configuration has " + std::to_string(sizeof(LaunchConfig)) + " bytes");
        std::memcpy(&launch.config, config.data(), sizeof(LaunchConfig));
        records_.resize(records_.size() + (record.size() + sizeof(Qword) - 1) / sizeof(Qword));
        record.copy(reinterpret_cast<char*>(records_.data() + launch.record_begin), record.size());
        for (const auto& [offset, value_index, addend] : relocations) {
            if (offset % sizeof(Qword) != 0 || offset + sizeof(Qword) > record.size())
                throw py::value_error("a relocation is eight aligned bytes of the record");
            relocations_.push_back({launch.record_begin + offset / sizeof(Qword), value_index, addend});
            value_count_ = std::max(value_count_, value_index + 1);
        }
        launches_.push_back(launch);
    }

    const LaunchKernel launch_kernel_;
    std::vector<Launch> launches_{};
    std::vector<Qword> records_{};  // the records of all launches, one after another
    std::vector<Relocation> relocations_{};
    std::size_t value_count_ = 0;
};

}  // namespace

void native::bind_launch_sequence(py::module_& module) {
    using namespace py::literals;
    py::class_<LaunchSequence>(module, "LaunchSequence",
                               "Kernel launches, recorded once and replayed by each call of `run`.")
        .def(py::init<std::uintptr_t, const std::vector<LaunchSequence::LaunchArguments>&>(), "launch_kernel"_a,
             "launches"_a)
        .def("run", &LaunchSequence::run, "stream"_a, "values"_a);
}
