// Bindings of the matrix builders. They are compiled here, not once per instruction set: their results have the same
// bits on every processor.

#include <algorithm>
#include <string>

#include <pybind11/pybind11.h>

#include "matrices/builders.cuh"
#include "../loops/convert.hpp"
#include "../thread_pool.hpp"
#include "bindings.hpp"
#include "names.hpp"
#include "record.hpp"
#include "record_limits.hpp"

namespace py = pybind11;
using namespace native;

namespace {

constexpr long long points_per_task = 256;

template <class... Builders>
auto builder_named(cuaug::TypeList<Builders...> list, const std::string& name) {
    using Build = void (*)(const cuaug::MatrixBuilderRecord&, long long);
    static constexpr Build build[] = {cuaug::build_item<Builders>...};
    return build[index_of<int>(list, name, "matrix builder")];
}

void build_matrices(const py::bytes& record, const std::string& name) {
    const auto args = unpack_record<cuaug::MatrixBuilderRecord>(record);
    check_limits(args);
    const auto build = builder_named(cuaug::MatrixBuilders(), name);
    const py::gil_scoped_release release;
    const long long items = args.samples * args.items, points = items * args.points;
    const long long items_per_task = std::max(1LL, points_per_task / std::max(1LL, args.points)),
                    tasks = (items + items_per_task - 1) / items_per_task;
    ThreadPool::instance().run(tasks, points < min_parallel_values ? 1 : threads(), [&](long long task, void*) {
        const long long begin = task * items_per_task, end = std::min(begin + items_per_task, items);
        for (long long i = begin; i < end; ++i) build(args, i);
    });
}

}  // namespace

void native::bind_matrices(py::module_& module) {
    using namespace py::literals;
    module.def("build_matrices", &build_matrices, "record"_a, "builder"_a);
}
