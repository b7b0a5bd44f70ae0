#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "../kernels/roi.cuh"
#include "../kernels/rotated_iou_record.cuh"
#include "../kernels/soft_nms_record.cuh"
#include "convert.hpp"
#include "detection_module.hpp"
#include "pool.hpp"

namespace py = pybind11;
using namespace native;

namespace {

const Loops& (*loops)();
int (*threads)();

template <class Record>
Record record_of(const py::bytes& bytes) {
    const std::string_view view = bytes;
    if (view.size() != sizeof(Record))
        throw py::value_error("the record has " + std::to_string(view.size()) + " bytes, expected " +
                              std::to_string(sizeof(Record)));
    Record record;
    std::memcpy(&record, view.data(), sizeof(Record));
    return record;
}

Dtype dtype_of(const std::string& name) {
    if (name == "float16") return Dtype::float16;
    if (name == "bfloat16") return Dtype::bfloat16;
    if (name == "float32") return Dtype::float32;
    if (name == "float64") return Dtype::float64;
    throw py::value_error("dtype '" + name + "' is not known to the CPU loops");
}

Pooling pooling_of(const std::string& name) {
    if (name == "avg") return Pooling::average;
    if (name == "max") return Pooling::greatest;
    if (name == "pixels") return Pooling::pixels;
    throw py::value_error("pooling '" + name + "' is not known to the CPU loops");
}

// The regions of each sample of each level, in the order of the call.
struct Gathered {
    std::vector<int> order;
    std::vector<long long> first;

    explicit Gathered(const cuaug::Pooling& args) : first(static_cast<std::size_t>(args.levels) * args.samples + 1) {
        std::vector<long long> list(args.count);
        for (long long k = 0; k < args.count; ++k) {
            const int n = cuaug::roi_sample(args, k);
            list[k] = n < 0 ? -1 : static_cast<long long>(cuaug::roi_level(args, k)) * args.samples + n;
            if (n >= 0) ++first[list[k] + 1];
        }
        for (std::size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
        order.resize(first.back());
        std::vector<long long> next(first.begin(), first.end() - 1);
        for (long long k = 0; k < args.count; ++k)
            if (list[k] >= 0) order[next[list[k]]++] = static_cast<int>(k);
    }
};

// Enough tasks for all threads, and in planes few channels at a time, which stay in the cache; but no more: each task
// finds out anew where bins lie.
int blocks_for(const cuaug::Pooling& args, long long others, int count, bool back) {
    const long long groups = (args.channels + cuaug::channel_group - 1) / cuaug::channel_group;
    if (!back && !cuaug::channels_inside(args.level[0].values)) return static_cast<int>(groups);
    const long long wanted = count > 1 ? (8LL * count + others - 1) / std::max(others, 1LL) : 1;
    return static_cast<int>(std::max(1LL, std::min(groups, wanted)));
}

void pooling(const py::bytes& record, const std::string& dtype, const std::string& kind, bool back) {
    const auto args = record_of<cuaug::Pooling>(record);
    if (args.levels < 1 || args.levels > cuaug::most_levels)
        throw py::value_error("the record must have 1 to " + std::to_string(cuaug::most_levels) + " levels");
    PoolingCall call = {&args, dtype_of(dtype), pooling_of(kind), 1, nullptr, nullptr};
    const py::gil_scoped_release release;
    const bool small =
        1.0 * args.count * args.channels * args.out_height * args.out_width < 1 << 15;  // as in module.cpp
    const int count = small ? 1 : threads();
    const long long others = back ? static_cast<long long>(args.levels) * args.samples : args.count;
    const Loops& table = loops();
    const auto run = [&] {
        call.blocks = blocks_for(args, others, count, back);
        Pool::instance().run(others * call.blocks, count, [&](long long task, void*) { table.pooling(call, task); });
    };
    if (!back) return run();
    const Gathered gathered(args);
    call.order = gathered.order.data(), call.first = gathered.first.data();
    run();
}

void soft_nms(const py::bytes& record) {
    const auto args = record_of<cuaug::SoftNms>(record);
    const py::gil_scoped_release release;
    const Loops& table = loops();
    Pool::instance().run(args.samples, threads(), [&](long long n, void*) { table.soft_nms(&args, n); });
}

void rotated_iou(const py::bytes& record) {
    const auto args = record_of<cuaug::RotatedIou>(record);
    const py::gil_scoped_release release;
    const Loops& table = loops();
    const bool small = 1.0 * args.samples * args.p * args.q < 1 << 10;  // a pair takes about 0.1 us
    Pool::instance().run(args.samples * args.p, small ? 1 : threads(),
                         [&](long long row, void*) { table.rotated_iou(&args, row); });
}

}  // namespace

void add_detection(py::module_& module, const Loops& (*table)(), int (*count)()) {
    using namespace py::literals;
    loops = table, threads = count;
    module.def("pooling", &pooling, "record"_a, "dtype"_a, "kind"_a, "back"_a);
    module.def("rotated_iou", &rotated_iou, "record"_a);
    module.def("soft_nms", &soft_nms, "record"_a);
}
