#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "records/blend.cuh"
#include "draws/program.cuh"
#include "records/gaussian_blur.cuh"
#include "ops/mixes/mixes.cuh"
#include "ops/ops.cuh"
#include "records/lut.cuh"
#include "records/pointwise.cuh"
#include "records/record.cuh"
#include "records/resample.cuh"
#include "bindings.hpp"
#include "names.hpp"
#include "../loops/dispatch_dtype.hpp"
#include "../loops/dispatch_functor.hpp"
#include "../loops/loops.hpp"
#include "../loops/detection/nms_order.hpp"
#include "../thread_pool.hpp"

namespace py = pybind11;
using namespace native;

namespace {

template <class... Geometries>
unsigned long warp_record_size(cuaug::TypeList<Geometries...>, native::Geometry geometry) {
    static constexpr unsigned long sizes[] = {sizeof(cuaug::Warp<Geometries>)...};
    return sizes[static_cast<int>(geometry)];
}

// The best set comes last.
std::vector<const LoopTable*> usable_loops() {
    std::vector<const LoopTable*> out = {&loops_baseline};
#ifdef CUAUG_ISAS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2")) {
        out.push_back(&loops_v3);
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl"))
            out.push_back(&loops_v4);
    }
#endif
    return out;
}

const std::vector<const LoopTable*>& all_loops() {
    static const std::vector<const LoopTable*> loops = usable_loops();
    return loops;
}

std::atomic<const LoopTable*> chosen{nullptr};
std::atomic<int> thread_count{0};

}  // namespace

namespace native {

const LoopTable& loops() {
    const LoopTable* out = chosen.load();
    return out != nullptr ? *out : *all_loops().back();
}

int threads() {
    const int set = thread_count.load();
    return set > 0 ? set : usable_cpus();
}

}  // namespace native

namespace {

// A record as an object: the bytes of a Python string have no alignment to rely on.
struct Record {
    alignas(16) char data[1024];

    Record(const py::bytes& bytes, unsigned long size) {
        const std::string_view view = bytes;
        if (view.size() != size || size > sizeof(data))
            throw py::value_error("the record has " + std::to_string(view.size()) + " bytes, expected " +
                                  std::to_string(size));
        std::memcpy(data, view.data(), size);
    }
};

// Waking a thread takes longer than this many values.
constexpr double small = 1 << 15;

void refuse_labels(Dtype dtype, const std::string& name) {
    if (static_cast<int>(dtype) >= cuaug::ImageDtypes::count)
        throw py::value_error(name + " is only moved, by Nearest, and not converted");
}

// A loop and what it is called with, ready to run.
struct Loop {
    long long samples;
    double values;  // of its result
    bool mixes;     // a sample with others
    std::function<long long(const LoopTable&)> tasks;
    std::function<void(const LoopTable&, long long task, void* workspace, bool last)> task;

    int threads() const { return values < small ? 1 : native::threads(); }
};

// A call, told whether it is the last of a run.
template <class Call>
Call told(const Call& call, bool) {
    return call;
}
PointwiseCall told(PointwiseCall call, bool last) { return call.last = last, call; }

// Every record begins with a batch. `kept`: what the call points to besides.
template <class Call>
Loop loop(const py::bytes& record, unsigned long size, Call call, LoopFunctions<Call> LoopTable::*functions,
          std::shared_ptr<const void> kept = nullptr) {
    const auto copy = std::make_shared<const Record>(record, size);
    call.record = copy->data;
    const auto& args = *reinterpret_cast<const cuaug::Batch*>(copy->data);
    return {args.samples, 1.0 * args.samples * args.frames * args.channels * args.out_height * args.out_width, false,
            [=](const LoopTable& table) { return (table.*functions).task_count(call); },
            [=](const LoopTable& table, long long i, void* workspace, bool last) {
                static_cast<void>(copy), static_cast<void>(kept),
                    (table.*functions).run_task(told(call, last), i, workspace);
            }};
}

// One loop after the other, or, where there are samples enough, one sample after the other: what a loop makes of it,
// the next one finds in the cache. The GIL is released for all of them.
void run(const std::vector<const Loop*>& wanted) {
    const py::gil_scoped_release release;
    const LoopTable& table = loops();
    for (auto first = wanted.begin(), end = first; first != wanted.end(); first = end) {
        const long long samples = (*first)->samples;
        end = std::find_if(first, wanted.end(),
                           [&](const Loop* loop) { return loop->mixes || loop->samples != samples; });
        int count = 1;
        std::for_each(first, end, [&](const Loop* loop) { count = std::max(count, loop->threads()); });
        if (end - first > 1 && samples >= 4 * count) {
            ThreadPool::instance().run(samples, count, [&](long long n, void* workspace) {
                std::for_each(first, end, [&](const Loop* loop) {
                    const long long share = loop->tasks(table) / samples;
                    for (long long i = n * share; i < (n + 1) * share; ++i)
                        loop->task(table, i, workspace, loop == wanted.back());
                });
            });
            continue;
        }
        if (end == first) ++end;
        std::for_each(first, end, [&](const Loop* loop) {
            ThreadPool::instance().run(loop->tasks(table), loop->threads(), [&](long long i, void* workspace) {
                loop->task(table, i, workspace, loop == wanted.back());
            });
        });
    }
}

Loop warp(const py::bytes& record, const std::string& source, const std::string& target, const std::string& geometry,
          const std::string& sampler, const std::string& border) {
    WarpCall call = {nullptr,
                     dtype_named(source),
                     dtype_named(target),
                     index_of<Geometry>(cuaug::Geometries(), geometry, "geometry"),
                     index_of<Sampler>(cuaug::Samplers(), sampler, "sampler"),
                     index_of<Border>(cuaug::Borders(), border, "border")};
    if (call.source != call.target || call.sampler != cuaug::sampler_of<cuaug::Nearest>) {
        refuse_labels(call.source, source);
        refuse_labels(call.target, target);
    }
    return loop(record, warp_record_size(cuaug::Geometries(), call.geometry), call, &LoopTable::warp_image);
}

Loop resample(const py::bytes& record, const std::string& source, const std::string& target,
              const std::string& filter) {
    ResampleCall call = {nullptr, dtype_named(source), dtype_named(target),
                         index_of<Filter>(cuaug::Filters(), filter, "filter")};
    refuse_labels(call.source, source);
    refuse_labels(call.target, target);
    return loop(record, sizeof(cuaug::Resample), call, &LoopTable::resample);
}

// An op by its name, or a user's by the address of its loop and the number of its fields.
using Chain = std::vector<std::variant<std::string, std::pair<std::uintptr_t, int>>>;

std::shared_ptr<const std::vector<ChainOp>> find_ops(const Chain& chain) {
    auto made = std::make_shared<std::vector<ChainOp>>();
    std::vector<ChainOp>& found = *made;
    for (const auto& op : chain) {
        if (const auto* name = std::get_if<std::string>(&op)) {
            found.push_back({index_of<Op>(cuaug::Ops::For<float, 3>(), *name, "op"), nullptr, 0});
        } else {
            const auto [address, fields] = std::get<1>(op);
            if (address == 0 || fields < 0 || fields > max_user_params)
                throw py::value_error("a user's op has an address, and at most " + std::to_string(max_user_params) +
                                      " fields");
            found.push_back({Op(), reinterpret_cast<UserOpLoop>(address), fields});
        }
    }
    if (found.size() > max_ops) throw py::value_error("a chain has at most " + std::to_string(max_ops) + " ops");
    return made;
}

Loop pointwise(const py::bytes& record, const std::string& source, const std::string& target, const Chain& chain,
               int out_channels) {
    const auto found = find_ops(chain);
    PointwiseCall call = {nullptr,
                          dtype_named(source),
                          dtype_named(target),
                          found->data(),
                          static_cast<int>(found->size()),
                          out_channels,
                          false,
                          false};
    refuse_labels(call.source, source);
    refuse_labels(call.target, target);
    return loop(record, sizeof(cuaug::Pointwise), call, &LoopTable::pointwise, found);
}

Loop luma_mean(const py::bytes& record, const std::string& source, const Chain& chain, bool in_place) {
    const auto found = find_ops(chain);
    PointwiseCall call = {nullptr,
                          dtype_named(source),
                          cuaug::dtype_of<cuaug::float64>,
                          found->data(),
                          static_cast<int>(found->size()),
                          1,
                          in_place,
                          false};
    refuse_labels(call.source, source);
    return loop(record, sizeof(cuaug::Pointwise), call, &LoopTable::luma_mean, found);
}

Loop mix(const py::bytes& record, const std::string& dtype, const std::string& name) {
    MixCall call = {nullptr, dtype_named(dtype), index_of<Mix>(cuaug::Mixes::For<float, 3>(), name, "mix")};
    refuse_labels(call.dtype, dtype);
    Loop made = loop(record, sizeof(cuaug::Pointwise), call, &LoopTable::mix);
    made.mixes = true;
    return made;
}

void draw(const py::bytes& record) {
    const Record copy(record, sizeof(cuaug::Draw));
    const auto& args = *reinterpret_cast<const cuaug::Draw*>(copy.data);
    const py::gil_scoped_release release;
    for (long long n = 0; n < args.samples; ++n)
        cuaug::draw_sample(args, args.program, args.table + n * args.columns,
                           cuaug::stream_of(args, args.step, cuaug::id_of(args, n)), n, true, 0, 1, [] {});
}

// Loops that take a record and the images' dtype, and nothing besides.
template <class Record, LoopFunctions<ImageCall> LoopTable::* Functions>
Loop of_images(const py::bytes& record, const std::string& source) {
    ImageCall call = {nullptr, dtype_named(source)};
    refuse_labels(call.source, source);
    return loop(record, sizeof(Record), call, Functions);
}

void nms(const py::bytes& record, const std::string& source) {
    const Record copy(record, sizeof(cuaug::Nms));
    const auto& args = *reinterpret_cast<const cuaug::Nms*>(copy.data);
    const ImageCall call = {copy.data, dtype_named(source)};
    const py::gil_scoped_release release;
    const LoopTable& table = loops();
    ThreadPool::instance().run(args.samples, threads(), [&](long long n, void* workspace) {
        cuaug::order_candidates(args, n, call.source == cuaug::dtype_of<cuaug::float64>);
        table.nms(call, n, workspace);
    });
}

std::vector<std::string> isas() {
    std::vector<std::string> out;
    for (const LoopTable* table : all_loops()) out.emplace_back(table->instruction_set);
    return out;
}

void set_isa(const std::string& name) {
    for (const LoopTable* table : all_loops())
        if (name == table->instruction_set) return chosen.store(table);
    throw py::value_error("instruction set '" + name + "' is not among those of this build and processor");
}

void set_threads(int n) {
    if (n < 0) throw py::value_error("threads must be positive, or 0 for one per usable processor");
    thread_count.store(n);
}

py::dict build_info() {
    py::dict out;
    out["compiler"] = CUAUG_COMPILER;
    out["flags"] = CUAUG_FLAGS;
    out["isa"] = loops().instruction_set;
    out["isas"] = isas();
    out["threads"] = threads();
    return out;
}

}  // namespace

PYBIND11_MODULE(_native, module, py::mod_gil_not_used()) {
    using namespace py::literals;
    module.doc() =
        "The CPU loops. Records are those of kernels/, packed by the caller, who has checked everything in them.";
    py::class_<Loop>(module, "Loop", "A loop over images, made by a function of its name, for `run`.");
    module.def("run", &run, "loops"_a, "One loop after the other; sample by sample where there are many.");
    module.def("warp", &warp, "record"_a, "source"_a, "target"_a, "geometry"_a, "sampler"_a, "border"_a);
    module.def("resample", &resample, "record"_a, "source"_a, "target"_a, "filter"_a);
    module.def("pointwise", &pointwise, "record"_a, "source"_a, "target"_a, "ops"_a, "out_channels"_a);
    module.def("luma_mean", &luma_mean, "record"_a, "source"_a, "ops"_a, "in_place"_a);
    module.def("mix", &mix, "record"_a, "dtype"_a, "mix"_a);
    module.def("gaussian_blur", &of_images<cuaug::GaussianBlur, &LoopTable::gaussian_blur>, "record"_a, "source"_a);
    module.def("draw", &draw, "record"_a);
    module.def("adjust_sharpness", &of_images<cuaug::Pointwise, &LoopTable::adjust_sharpness>, "record"_a, "source"_a);
    module.def("blend", &of_images<cuaug::Blend, &LoopTable::blend>, "record"_a, "source"_a);
    module.def("relevel", &of_images<cuaug::Pointwise, &LoopTable::histogram_lut>, "record"_a, "source"_a);
    module.def("extremes", &of_images<cuaug::Pointwise, &LoopTable::channel_min_max>, "record"_a, "source"_a);
    module.def("lut", &of_images<cuaug::Lut, &LoopTable::lut>, "record"_a, "source"_a);
    module.def("nms", &nms, "record"_a, "source"_a);
    bind_encoded_files(module);
    bind_nvjpeg(module);
    bind_launch_plan(module);
    bind_detection(module);
    module.def("set_threads", &set_threads, "n"_a, "0: one per usable processor.");
    module.def("threads", &native::threads);
    module.def("isa", [] { return std::string(loops().instruction_set); }, "The instruction set in use.");
    module.def(
        "flags", [] { return std::string(loops().flags); },
        "Those of the compiler that made the loops in use, for what joins them.");
    module.def("isas", &isas, "Those this build has and this processor runs, the best one last.");
    module.def("set_isa", &set_isa, "name"_a);
    module.def("build_info", &build_info);
#ifdef CUAUG_JPEG
    bind_jpeg(module);
#endif
}
