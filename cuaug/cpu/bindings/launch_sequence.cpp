// Launches all kernels of a recipe in one call, through the driver's function whose address Python passes: a call from
// Python for each kernel would cost more than the launch.

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
    const void* attributes;
    unsigned int attribute_count;
};

using LaunchKernel = int (*)(const LaunchConfig* config, void* kernel, void** arguments,
                             void** extra);  // cuLaunchKernelEx

using Word = std::uint64_t;

// A word of the records that differs from call to call: one of the call's values plus `addend`.
struct Relocation {
    std::size_t word, value;
    Word addend;
};

struct Launch {
    void* kernel;
    LaunchConfig config;
    std::size_t record;  // index of its first word
};

class LaunchSequence {
public:
    // (offset in the record in bytes, index of the call's value, addend)
    using RelocationArguments = std::tuple<std::size_t, std::size_t, Word>;
    // (kernel, configuration, record, relocations). The record is the kernel's only argument.
    using LaunchArguments = std::tuple<std::uintptr_t, py::bytes, py::bytes, std::vector<RelocationArguments>>;

    LaunchSequence(std::uintptr_t launch_kernel, const std::vector<LaunchArguments>& launches)
        : launch_kernel_(reinterpret_cast<LaunchKernel>(launch_kernel)) {
        for (const auto& [kernel, config, record, relocations] : launches)
            add(reinterpret_cast<void*>(kernel), config, record, relocations);
    }

    // The status of the first launch that fails, after which there are no more launches; 0 if none fails.
    int run(std::uintptr_t stream, const std::vector<std::int64_t>& values) const {
        if (values.size() < value_count_)
            throw py::value_error("the launches need " + std::to_string(value_count_) + " values");
        // If its queue is full the driver waits, perhaps for a host function that needs the GIL.
        const py::gil_scoped_release release;
        std::vector<Word> words = words_;  // a copy, because several threads may be here
        for (const Relocation& relocation : relocations_)
            words[relocation.word] = static_cast<Word>(values[relocation.value]) + relocation.addend;
        for (const Launch& launch : launches_) {
            LaunchConfig config = launch.config;
            config.stream = reinterpret_cast<void*>(stream);
            void* argument = words.data() + launch.record;
            if (const int status = launch_kernel_(&config, launch.kernel, &argument, nullptr)) return status;
        }
        return 0;
    }

private:
    void add(void* kernel, std::string_view config, std::string_view record,
             const std::vector<RelocationArguments>& relocations) {
        Launch launch = {kernel, {}, words_.size()};
        if (config.size() != sizeof(LaunchConfig))
            throw py::value_error("a configuration has " + std::to_string(sizeof(LaunchConfig)) + " bytes");
        std::memcpy(&launch.config, config.data(), sizeof(LaunchConfig));
        words_.resize(words_.size() + (record.size() + sizeof(Word) - 1) / sizeof(Word));
        record.copy(reinterpret_cast<char*>(words_.data() + launch.record), record.size());
        for (const auto& [offset, value, addend] : relocations) {
            if (offset % sizeof(Word) != 0 || offset + sizeof(Word) > record.size())
                throw py::value_error("a relocation is one whole word of the record");
            relocations_.push_back({launch.record + offset / sizeof(Word), value, addend});
            value_count_ = std::max(value_count_, value + 1);
        }
        launches_.push_back(launch);
    }

    const LaunchKernel launch_kernel_;
    std::vector<Launch> launches_{};
    std::vector<Word> words_{};  // all records, one after another
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
