#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "detection/move_boxes.cuh"
#include "detection/roi_axis.cuh"
#include "records/box_pairs.cuh"
#include "records/soft_nms.cuh"
#include "../loops/convert.hpp"
#include "../loops/detection/nms_order.hpp"
#include "../loops/dispatch_dtype.hpp"
#include "bindings.hpp"
#include "names.hpp"
#include "record.hpp"
#include "record_limits.hpp"
#include "../thread_pool.hpp"

namespace py = pybind11;
using namespace native;

namespace {

Dtype float_dtype(const std::string& name) {
    const Dtype dtype = dtype_named(name);
    if (cuaug::dispatch_dtype(dtype, [](auto element) { return std::is_integral_v<decltype(element)>; }))
        throw py::value_error("dtype '" + name + "' is not known to the CPU loops");
    return dtype;
}

// "avg", "max": roi_align; "ps_avg": ps_roi_align; "pixel_max": roi_pool; "pixel_avg": ps_roi_pool.
PoolingKind pooling_kind(const std::string& name) {
    if (name == "avg" || name == "ps_avg") return PoolingKind::roi_align_average;
    if (name == "max") return PoolingKind::roi_align_max;
    if (name == "pixel_max") return PoolingKind::roi_pool;
    if (name == "pixel_avg") return PoolingKind::ps_roi_pool;
    throw py::value_error("pooling '" + name + "' is not known to the CPU loops");
}

// The regions of each sample of each level, in the order of the call. A sample of a level has the index
// level * samples + sample.
struct RegionsByLevelSample {
    std::vector<int> region_order;
    std::vector<long long> region_begin;

    explicit RegionsByLevelSample(const cuaug::RoiRecord& args)
        : region_begin(static_cast<std::size_t>(args.levels) * args.samples + 1) {
        std::vector<long long> level_sample(args.count);
        for (long long k = 0; k < args.count; ++k) {
            const int n = cuaug::roi_sample(args, k);
            level_sample[k] = n < 0 ? -1 : static_cast<long long>(cuaug::roi_level(args, k)) * args.samples + n;
            if (n >= 0) ++region_begin[level_sample[k] + 1];
        }
        for (std::size_t i = 1; i < region_begin.size(); ++i) region_begin[i] += region_begin[i - 1];
        region_order.resize(region_begin.back());
        std::vector<long long> next(region_begin.begin(), region_begin.end() - 1);
        for (long long k = 0; k < args.count; ++k)
            if (level_sample[k] >= 0) region_order[next[level_sample[k]]++] = static_cast<int>(k);
    }
};

// The number of parts that the channels are divided into. More parts keep more threads busy, but each task computes the
// bins anew, so there are only as many parts as give about eight tasks per thread. Planar channels of a forward pass,
// and planar gradients of half precision, are divided into the smallest parts: the planes of a part, or its float32
// sums of gradients, stay in the cache.
int channel_parts(const cuaug::RoiRecord& args, Dtype dtype, long long items, int thread_count, bool backward) {
    const long long groups = (args.channels + cuaug::roi_channel_group - 1) / cuaug::roi_channel_group;
    const bool half_precision = dtype == cuaug::dtype_of<cuaug::float16> || dtype == cuaug::dtype_of<cuaug::bfloat16>,
               smallest_parts = backward ? half_precision && !cuaug::is_channels_last(args.level[0].gradients)
                                         : !cuaug::is_channels_last(args.level[0].values);
    if (smallest_parts) return static_cast<int>(groups);
    const long long wanted_parts = thread_count > 1 ? (8LL * thread_count + items - 1) / std::max(items, 1LL) : 1;
    return static_cast<int>(std::max(1LL, std::min(groups, wanted_parts)));
}

// The values of the bins and, if backward, of the gradients of the feature maps.
double count_values(const cuaug::RoiRecord& args, bool backward) {
    double values = 1.0 * args.count * args.channels * args.out_height * args.out_width;
    for (int i = 0; backward && i < args.levels; ++i)
        values += 1.0 * args.samples * args.channels * args.level[i].height * args.level[i].width;
    return values;
}

void pooling(const py::bytes& record, const std::string& dtype, const std::string& kind, bool backward) {
    const auto args = unpack_record<cuaug::RoiRecord>(record);
    check_limits(args);
    PoolingCall call = {&args, float_dtype(dtype), pooling_kind(kind), 1, nullptr, nullptr};
    const py::gil_scoped_release release;
    const int thread_count = count_values(args, backward) < min_parallel_values ? 1 : threads();
    const long long items = backward ? static_cast<long long>(args.levels) * args.samples : args.count;
    const LoopTable& table = loops();
    const auto run = [&] {
        call.channel_parts = channel_parts(args, call.dtype, items, thread_count, backward);
        ThreadPool::instance().run(items * call.channel_parts, thread_count,
                                   [&](long long task, void*) { table.pooling(call, task); });
    };
    if (!backward) return run();
    const RegionsByLevelSample regions(args);
    call.region_order = regions.region_order.data(), call.region_begin = regions.region_begin.data();
    run();
}

void nms(const py::bytes& bytes, const std::string& dtype) {
    const auto record = unpack_record<cuaug::NmsRecord>(bytes);
    const RecordCall call = {&record, dtype_named(dtype)};
    const py::gil_scoped_release release;
    const LoopTable& table = loops();
    ThreadPool::instance().run(record.samples, threads(), [&](long long n, void*) {
        cuaug::rank_boxes(record, n, call.in_dtype == cuaug::dtype_of<cuaug::float64>);
        table.nms(call, n);
    });
}

void soft_nms(const py::bytes& record) {
    const auto args = unpack_record<cuaug::SoftNmsRecord>(record);
    const py::gil_scoped_release release;
    const LoopTable& table = loops();
    ThreadPool::instance().run(args.samples, threads(), [&](long long n, void*) { table.soft_nms(&args, n); });
}

void rotated_iou(const py::bytes& record) {
    const auto args = unpack_record<cuaug::BoxPairsRecord>(record);
    const py::gil_scoped_release release;
    const LoopTable& table = loops();
    const bool small = 1.0 * args.samples * args.p * args.q < 1 << 10;  // a pair takes about 0.1 us
    ThreadPool::instance().run(args.samples * args.p, small ? 1 : threads(),
                               [&](long long row, void*) { table.rotated_iou(&args, row); });
}

void upright_iou(const py::bytes& record) {
    const auto args = unpack_record<cuaug::BoxPairsRecord>(record);
    check_limits(args);
    const py::gil_scoped_release release;
    const LoopTable& table = loops();
    const bool small = 1.0 * args.samples * args.p * args.q < 1 << 15;  // a pair takes about 1 ns
    const long long groups = (args.p + upright_task_rows - 1) / upright_task_rows;
    ThreadPool::instance().run(args.samples * groups, small ? 1 : threads(),
                               [&](long long task, void*) { table.upright_iou(&args, task); });
}

void move_boxes(const py::bytes& record) {
    const auto args = unpack_record<cuaug::MoveBoxesRecord>(record);
    check_limits(args);
    const py::gil_scoped_release release;
    constexpr long long boxes_per_task = 256;
    const long long count = args.rows * args.boxes_per_row, tasks = (count + boxes_per_task - 1) / boxes_per_task;
    ThreadPool::instance().run(tasks, tasks < 8 ? 1 : threads(), [&](long long task, void*) {
        const long long end = std::min((task + 1) * boxes_per_task, count);
        for (long long i = task * boxes_per_task; i < end; ++i) cuaug::move_box(args, i);
    });
}

}  // namespace

void native::bind_detection(py::module_& module) {
    using namespace py::literals;
    module.def("move_boxes", &move_boxes, "record"_a);
    module.def("nms", &nms, "record"_a, "dtype"_a);
    module.def("pooling", &pooling, "record"_a, "dtype"_a, "kind"_a, "backward"_a);
    module.def("rotated_iou", &rotated_iou, "record"_a);
    module.def("soft_nms", &soft_nms, "record"_a);
    module.def("upright_iou", &upright_iou, "record"_a);
}
