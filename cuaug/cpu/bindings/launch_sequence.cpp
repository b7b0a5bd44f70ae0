// Makes all launches of a launch plan in one call from Python: a call for each kernel would cost more than the launch.
// Python passes the address of cuLaunchKernelEx.

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
#include "relocated_records.hpp"

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

struct Launch {
    void* kernel;
    LaunchConfig config;
    std::size_t record_begin;  // index of the first Qword of its record
};

class LaunchSequence {
public:
    // (kernel, configuration, record, relocations). The record is the kernel's only argument.
    using LaunchArguments =
        std::tuple<std::uintptr_t, py::bytes, py::bytes, std::vector<native::RelocatedRecords::RelocationArguments>>;

    LaunchSequence(std::uintptr_t launch_kernel, const std::vector<LaunchArguments>& launches)
        : launch_kernel_(reinterpret_cast<LaunchKernel>(launch_kernel)) {
        for (const auto& [kernel, config, record, relocations] : launches) {
            Launch launch = {reinterpret_cast<void*>(kernel), {}, records_.add(record, relocations)};
            const std::string_view bytes = config;
            if (bytes.size() != sizeof(LaunchConfig))
                throw py::value_error("a configuration has " + std::to_string(sizeof(LaunchConfig)) + " bytes");
            std::memcpy(&launch.config, bytes.data(), sizeof(LaunchConfig));
            launches_.push_back(launch);
        }
    }

    // Returns the status of the first launch that fails, after which there are no more launches; 0 if none fails.
    int run(std::uintptr_t stream, const std::vector<std::int64_t>& values) const {
        records_.check_values(values);
        // The driver waits if its queue is full, perhaps for a host function that needs the GIL.
        const py::gil_scoped_release release;
        std::vector<native::RelocatedRecords::Qword> records = records_.with_values(values);
        for (const Launch& launch : launches_) {
            LaunchConfig config = launch.config;
            config.stream = reinterpret_cast<void*>(stream);
            void* argument = records.data() + launch.record_begin;
            if (const int status = launch_kernel_(&config, launch.kernel, &argument, nullptr)) return status;
        }
        return 0;
    }

private:
    const LaunchKernel launch_kernel_;
    std::vector<Launch> launches_{};
    native::RelocatedRecords records_{};
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
