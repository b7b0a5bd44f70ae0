// Defines the module `_native`: its settings, and the functions and classes that the other files bind.

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../loops/loops.hpp"
#include "../thread_pool.hpp"
#include "background_task.hpp"
#include "bindings.hpp"

namespace py = pybind11;

namespace native {
namespace {

// The loop tables of the instruction sets that this processor supports, the fastest last.
const std::vector<const LoopTable*>& loop_tables() {
    static const std::vector<const LoopTable*> tables = [] {
        std::vector<const LoopTable*> usable = {&loops_baseline};
#ifdef CUAUG_ISAS
        __builtin_cpu_init();
        const bool v3 =
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
        const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
        if (v3) usable.push_back(&loops_v3);
        if (v4) usable.push_back(&loops_v4);
#endif
        return usable;
    }();
    return tables;
}

std::atomic<const LoopTable*> chosen_table{nullptr};
std::atomic<int> chosen_threads{0};

std::vector<std::string> instruction_sets() {
    std::vector<std::string> names;
    for (const LoopTable* table : loop_tables()) names.emplace_back(table->instruction_set);
    return names;
}

void set_instruction_set(const std::string& name) {
    for (const LoopTable* table : loop_tables())
        if (name == table->instruction_set) return chosen_table.store(table);
    throw py::value_error("instruction set '" + name + "' is not among those of this build and processor");
}

void set_threads(int n) {
    if (n < 0) throw py::value_error("threads must be positive, or 0 for one per usable processor");
    chosen_threads.store(n);
}

}  // namespace

const LoopTable& loops() {
    const LoopTable* table = chosen_table.load();
    return table != nullptr ? *table : *loop_tables().back();
}

int threads() {
    const int chosen = chosen_threads.load();
    return chosen > 0 ? chosen : usable_cpus();
}

}  // namespace native

PYBIND11_MODULE(_native, module, py::mod_gil_not_used()) {
    using namespace native;
    using namespace py::literals;
    module.doc() =
        "The CPU loops, the JPEG decoder and encoder, and calls of nvJPEG and of kernels. Records are the structs of "
        "kernels/records. The caller packs them and has checked all values.";
    py::class_<BackgroundTask>(module, "BackgroundTask")
        .def("start", &BackgroundTask::start)
        .def("wait", &BackgroundTask::wait);
    bind_loops(module);
    bind_loop_sequence(module);
    bind_detection(module);
    bind_matrices(module);
    bind_encoded_files(module);
    bind_nvjpeg(module);
    bind_launch_sequence(module);
    bind_record_layout(module);
    bind_tensor_rows(module);
#ifdef CUAUG_JPEG
    bind_jpeg(module);
#endif
    module.def("set_threads", &set_threads, "n"_a, "0: one per usable processor.");
    module.def("threads", &threads);
    module.def("instruction_set", [] { return std::string(loops().instruction_set); }, "The instruction set in use.");
    module.def("instruction_sets", &instruction_sets,
               "The instruction sets that this build contains and this processor supports, the fastest last.");
    module.def("set_instruction_set", &set_instruction_set, "name"_a);
    module.def(
        "array_address", [](const py::array& array) { return reinterpret_cast<std::uintptr_t>(array.data()); },
        "array"_a,
        "The address of a NumPy array's first element. `array.__array_interface__` takes ten times as long.");
    module.def(
        "compiler_flags", [] { return std::string(loops().flags); },
        "The compiler flags of the loops in use. A user's op, which they call, is compiled with the same flags.");
}
