// Launches kernels by the driver's function, which Python has found: one call for a recipe's, where from Python each
// would take its own.

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

// A CUlaunchConfig of cuda.h.
struct Config {
    unsigned int grid[3], block[3], shared;
    void* stream;
    const void* attributes;
    unsigned int attribute_count;
};

using LaunchKernel = int (*)(const Config* config, void* kernel, void** arguments, void** extra);  // cuLaunchKernelEx

using Word = std::uint64_t;

// A word of the records that each call fills in, with one of its values and what is added to that.
struct Blank {
    std::size_t word, value;
    Word plus;
};

struct Launch {
    void* kernel;
    Config config;
    std::size_t record;  // its first word
};

class Launches {
public:
    // A launch: the kernel, its configuration, its only argument, and of each blank the byte there, which value, and
    // what is added.
    using Described =
        std::tuple<std::uintptr_t, py::bytes, py::bytes, std::vector<std::tuple<std::size_t, std::size_t, Word>>>;

    Launches(std::uintptr_t function, const std::vector<Described>& launches)
        : function_(reinterpret_cast<LaunchKernel>(function)) {
        for (const auto& [kernel, config, record, blanks] : launches)
            add(reinterpret_cast<void*>(kernel), config, record, blanks);
    }

    // The status of the first that fails, which none is launched after; or 0.
    int run(std::uintptr_t stream, const std::vector<std::int64_t>& values) const {
        if (values.size() < values_) throw py::value_error("the launches need " + std::to_string(values_) + " values");
        // The driver waits where its queue is full, perhaps for a host function that needs Python's lock.
        const py::gil_scoped_release release;
        std::vector<Word> words = words_;  // of this call alone: several threads may be here
        for (const Blank& blank : blanks_) words[blank.word] = static_cast<Word>(values[blank.value]) + blank.plus;
        for (const Launch& launch : launches_) {
            Config config = launch.config;
            config.stream = reinterpret_cast<void*>(stream);
            void* argument = words.data() + launch.record;
            if (const int status = function_(&config, launch.kernel, &argument, nullptr)) return status;
        }
        return 0;
    }

private:
    template <class Blanks>
    void add(void* kernel, std::string_view config, std::string_view record, const Blanks& blanks) {
        Launch launch = {kernel, {}, words_.size()};
        if (config.size() != sizeof(Config))
            throw py::value_error("a configuration has " + std::to_string(sizeof(Config)) + " bytes");
        std::memcpy(&launch.config, config.data(), sizeof(Config));
        words_.resize(words_.size() + (record.size() + sizeof(Word) - 1) / sizeof(Word));
        record.copy(reinterpret_cast<char*>(words_.data() + launch.record), record.size());
        for (const auto& [at, value, plus] : blanks) {
            if (at % sizeof(Word) != 0 || at + sizeof(Word) > record.size())
                throw py::value_error("a blank is a word of the record");
            blanks_.push_back({launch.record + at / sizeof(Word), value, plus});
            values_ = std::max(values_, value + 1);
        }
        launches_.push_back(launch);
    }

    const LaunchKernel function_;
    std::vector<Launch> launches_{};
    std::vector<Word> words_{};  // the records, one after the other
    std::vector<Blank> blanks_{};
    std::size_t values_ = 0;
};

}  // namespace

void native::bind_launch_plan(py::module_& module) {
    using namespace py::literals;
    py::class_<Launches>(module, "Launches", "Launches of kernels on a GPU, one after the other, as often as wanted.")
        .def(py::init<std::uintptr_t, const std::vector<Launches::Described>&>(), "function"_a, "launches"_a)
        .def("run", &Launches::run, "stream"_a, "values"_a);
}
