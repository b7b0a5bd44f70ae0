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

#include "../kernels/blend_record.cuh"
#include "../kernels/draws/program.cuh"
#include "../kernels/gaussian_blur_record.cuh"
#include "../kernels/geometry/affine.cuh"
#include "../kernels/geometry/grid.cuh"
#include "../kernels/geometry/perspective.cuh"
#include "../kernels/lut_record.cuh"
#include "../kernels/pointwise_record.cuh"
#include "../kernels/record.cuh"
#include "../kernels/resample_record.cuh"
#ifdef CUAUG_JPEG
#include "jpeg_module.hpp"
#endif
#include "detection_module.hpp"
#include "engine.hpp"
#include "launches.hpp"
#include "loading.hpp"
#include "loops.hpp"
#include "nms_order.hpp"
#include "pool.hpp"

namespace py = pybind11;
using namespace native;

namespace {

constexpr std::string_view dtypes[] = {"uint8",   "uint16",   "int16",   "int32",  "int64",
                                       "float16", "bfloat16", "float32", "float64"};
constexpr std::string_view geometries[] = {"Affine", "Perspective", "Grid", "WideGrid"};
constexpr std::string_view samplers[] = {"Nearest", "Bilinear", "Bicubic", "Lanczos"};
constexpr std::string_view borders[] = {"Constant", "Edge", "Reflect", "Symmetric", "Wrap"};
constexpr std::string_view filters[] = {"Triangle", "CatmullRom", "Lanczos3", "SharpCubic", "LanczosPlain"};
constexpr std::string_view ops[] = {
    "AdjustBrightness", "AdjustContrast", "AdjustGamma", "AdjustHue",    "AdjustSaturation", "AfterContrast",
    "Autocontrast",     "BeforeContrast", "ColorJitter", "ColorMatrix",  "DropCells",        "Erase",
    "GaussianNoise",    "Grayscale",      "Invert",      "MaskGrid",     "Normalize",        "Posterize",
    "RandomGrayscale",  "Scaled",         "Solarize",    "UniformNoise", "Unscaled"};
constexpr std::string_view mixes[] = {"Cutmix", "Mixup"};
constexpr unsigned long warp_bytes[] = {sizeof(cuaug::Warp<cuaug::Affine>), sizeof(cuaug::Warp<cuaug::Perspective>),
                                        sizeof(cuaug::Warp<cuaug::Grid>), sizeof(cuaug::Warp<cuaug::WideGrid>)};

template <class Name, int Count>
Name find(const std::string_view (&names)[Count], const std::string& name, const char* kind) {
    for (int i = 0; i < Count; ++i)
        if (names[i] == name) return static_cast<Name>(i);
    throw py::value_error(std::string(kind) + " '" + name + "' is not known to the CPU loops");
}

// The best set comes last.
std::vector<const Loops*> usable_loops() {
    std::vector<const Loops*> out = {&loops_baseline};
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

const std::vector<const Loops*>& all_loops() {
    static const std::vector<const Loops*> loops = usable_loops();
    return loops;
}

std::atomic<const Loops*> chosen{nullptr};
std::atomic<int> thread_count{0};

const Loops& loops() {
    const Loops* out = chosen.load();
    return out != nullptr ? *out : *all_loops().back();
}

int threads() {
    const int set = thread_count.load();
    return set > 0 ? set : usable_cpus();
}

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

// Loops rely on what a record says of itself, and have arrays of fixed sizes: no record beyond them becomes a loop.
void require(bool holds, const std::string& rule) {
    if (!holds) throw py::value_error("the record must have " + rule);
}

template <class Fields>
Fields fields_of(const py::bytes& record) {
    const Record copy(record, sizeof(Fields));
    Fields fields;
    std::memcpy(&fields, copy.data, sizeof(Fields));
    return fields;
}

// Waking a thread takes longer than this many values.
constexpr double small = 1 << 15;

void refuse_labels(Dtype dtype, const std::string& name) {
    if (dtype == Dtype::int32 || dtype == Dtype::int64)
        throw py::value_error(name + " is only moved, by Nearest, and not converted");
}

// A loop and what it is called with, ready to run.
struct Loop {
    long long samples;
    double values;  // of its result
    bool mixes;     // a sample with others
    std::function<long long(const Loops&)> tasks;
    std::function<void(const Loops&, long long task, void* workspace, bool last)> task;

    int threads() const { return values < small ? 1 : ::threads(); }
};

// A call, told whether it is the last of a run.
template <class Call>
Call told(const Call& call, bool) {
    return call;
}
PointwiseCall told(PointwiseCall call, bool last) { return call.last = last, call; }

// Every record begins with a batch. `kept`: what the call points to besides.
template <class Call>
Loop loop(const py::bytes& record, unsigned long size, Call call, long long (*Loops::*tasks)(const Call&),
          void (*Loops::*task)(const Call&, long long, void*), std::shared_ptr<const void> kept = nullptr) {
    const auto copy = std::make_shared<const Record>(record, size);
    call.record = copy->data;
    const auto& args = *reinterpret_cast<const cuaug::Batch*>(copy->data);
    require(args.samples >= 0 && args.frames > 0 && args.channels > 0 && args.out_height > 0 && args.out_width > 0,
            "frames, channels, rows and columns");
    return {args.samples, 1.0 * args.samples * args.frames * args.channels * args.out_height * args.out_width, false,
            [=](const Loops& table) { return (table.*tasks)(call); },
            [=](const Loops& table, long long i, void* workspace, bool last) {
                static_cast<void>(copy), static_cast<void>(kept), (table.*task)(told(call, last), i, workspace);
            }};
}

// One loop after the other, or, where there are samples enough, one sample after the other: what a loop makes of it,
// the next one finds in the cache. The GIL is released for all of them.
void run(const std::vector<const Loop*>& wanted) {
    const py::gil_scoped_release release;
    const Loops& table = loops();
    for (auto first = wanted.begin(), end = first; first != wanted.end(); first = end) {
        const long long samples = (*first)->samples;
        end = std::find_if(first, wanted.end(),
                           [&](const Loop* loop) { return loop->mixes || loop->samples != samples; });
        int count = 1;
        std::for_each(first, end, [&](const Loop* loop) { count = std::max(count, loop->threads()); });
        if (end - first > 1 && samples >= 4 * count) {
            Pool::instance().run(samples, count, [&](long long n, void* workspace) {
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
            Pool::instance().run(loop->tasks(table), loop->threads(), [&](long long i, void* workspace) {
                loop->task(table, i, workspace, loop == wanted.back());
            });
        });
    }
}

Loop warp(const py::bytes& record, const std::string& source, const std::string& target, const std::string& geometry,
          const std::string& sampler, const std::string& border) {
    WarpCall call = {nullptr,
                     find<Dtype>(dtypes, source, "dtype"),
                     find<Dtype>(dtypes, target, "dtype"),
                     find<Geometry>(geometries, geometry, "geometry"),
                     find<Sampler>(samplers, sampler, "sampler"),
                     find<Border>(borders, border, "border")};
    if (call.source != call.target || call.sampler != Sampler::Nearest) {
        refuse_labels(call.source, source);
        refuse_labels(call.target, target);
    }
    return loop(record, warp_bytes[static_cast<int>(call.geometry)], call, &Loops::warp_tasks, &Loops::warp);
}

Loop resample(const py::bytes& record, const std::string& source, const std::string& target,
              const std::string& filter) {
    ResampleCall call = {nullptr, find<Dtype>(dtypes, source, "dtype"), find<Dtype>(dtypes, target, "dtype"),
                         find<Filter>(filters, filter, "filter")};
    refuse_labels(call.source, source);
    refuse_labels(call.target, target);
    return loop(record, sizeof(cuaug::Resample), call, &Loops::resample_tasks, &Loops::resample);
}

// An op by its name, or a user's by the address of its loop and the number of its fields.
using Chain = std::vector<std::variant<std::string, std::pair<std::uintptr_t, int>>>;

std::shared_ptr<const std::vector<Step>> find_ops(const Chain& chain) {
    auto made = std::make_shared<std::vector<Step>>();
    std::vector<Step>& found = *made;
    for (const auto& op : chain) {
        if (const auto* name = std::get_if<std::string>(&op)) {
            found.push_back({find<Op>(ops, *name, "op"), nullptr, 0});
        } else {
            const auto [address, fields] = std::get<1>(op);
            if (address == 0 || fields < 0 || fields > most_user_fields)
                throw py::value_error("a user's op has an address, and at most " + std::to_string(most_user_fields) +
                                      " fields");
            found.push_back({Op(), reinterpret_cast<UserLoop>(address), fields});
        }
    }
    if (found.size() > most_ops) throw py::value_error("a chain has at most " + std::to_string(most_ops) + " ops");
    return made;
}

Loop pointwise(const py::bytes& record, const std::string& source, const std::string& target, const Chain& chain,
               int out_channels) {
    const auto found = find_ops(chain);
    const int channels = fields_of<cuaug::Pointwise>(record).channels;
    require(out_channels == channels || (channels <= 4 && out_channels >= 1 && out_channels <= 4),
            "as many channels as the result, or at most 4 both");
    PointwiseCall call = {nullptr,
                          find<Dtype>(dtypes, source, "dtype"),
                          find<Dtype>(dtypes, target, "dtype"),
                          found->data(),
                          static_cast<int>(found->size()),
                          out_channels,
                          false,
                          false};
    refuse_labels(call.source, source);
    refuse_labels(call.target, target);
    return loop(record, sizeof(cuaug::Pointwise), call, &Loops::pointwise_tasks, &Loops::pointwise, found);
}

Loop luma_mean(const py::bytes& record, const std::string& source, const Chain& chain, bool in_place) {
    const auto found = find_ops(chain);
    PointwiseCall call = {nullptr,
                          find<Dtype>(dtypes, source, "dtype"),
                          Dtype::float64,
                          found->data(),
                          static_cast<int>(found->size()),
                          1,
                          in_place,
                          false};
    refuse_labels(call.source, source);
    return loop(record, sizeof(cuaug::Pointwise), call, &Loops::luma_mean_tasks, &Loops::luma_mean, found);
}

Loop mix(const py::bytes& record, const std::string& dtype, const std::string& name) {
    MixCall call = {nullptr, find<Dtype>(dtypes, dtype, "dtype"), find<Mix>(mixes, name, "mix")};
    refuse_labels(call.dtype, dtype);
    Loop made = loop(record, sizeof(cuaug::Pointwise), call, &Loops::mix_tasks, &Loops::mix);
    made.mixes = true;
    return made;
}

Loop gaussian_blur(const py::bytes& record, const std::string& source) {
    GaussianBlurCall call = {nullptr, find<Dtype>(dtypes, source, "dtype")};
    refuse_labels(call.source, source);
    const auto args = fields_of<cuaug::GaussianBlur>(record);
    for (const int taps : {args.kernel_width, args.kernel_height})
        require(taps % 2 == 1 && taps > 0 && taps <= cuaug::most_taps,
                "an odd kernel of at most " + std::to_string(cuaug::most_taps) + " taps");
    return loop(record, sizeof(cuaug::GaussianBlur), call, &Loops::gaussian_blur_tasks, &Loops::gaussian_blur);
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
template <class Record, long long (*Loops::*Tasks)(const ImageCall&),
          void (*Loops::*Task)(const ImageCall&, long long, void*)>
Loop of_images(const py::bytes& record, const std::string& source) {
    ImageCall call = {nullptr, find<Dtype>(dtypes, source, "dtype")};
    refuse_labels(call.source, source);
    return loop(record, sizeof(Record), call, Tasks, Task);
}

Loop blend(const py::bytes& record, const std::string& source) {
    const long long branches = fields_of<cuaug::Blend>(record).branches;
    require(branches >= 0 && branches <= cuaug::most_branches,
            "at most " + std::to_string(cuaug::most_branches) + " branches");
    return of_images<cuaug::Blend, &Loops::blend_tasks, &Loops::blend>(record, source);
}

void nms(const py::bytes& record, const std::string& source) {
    const Record copy(record, sizeof(cuaug::Nms));
    const auto& args = *reinterpret_cast<const cuaug::Nms*>(copy.data);
    const ImageCall call = {copy.data, find<Dtype>(dtypes, source, "dtype")};
    const py::gil_scoped_release release;
    const Loops& table = loops();
    Pool::instance().run(args.samples, threads(), [&](long long n, void* workspace) {
        cuaug::order_candidates(args, n, call.source == Dtype::float64);
        table.nms(call, n, workspace);
    });
}

std::vector<std::string> isas() {
    std::vector<std::string> out;
    for (const Loops* table : all_loops()) out.emplace_back(table->isa);
    return out;
}

void set_isa(const std::string& name) {
    for (const Loops* table : all_loops())
        if (name == table->isa) return chosen.store(table);
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
    out["isa"] = loops().isa;
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
    module.def("gaussian_blur", &gaussian_blur, "record"_a, "source"_a);
    module.def("draw", &draw, "record"_a);
    module.def("adjust_sharpness",
               &of_images<cuaug::Pointwise, &Loops::adjust_sharpness_tasks, &Loops::adjust_sharpness>, "record"_a,
               "source"_a);
    module.def("blend", &blend, "record"_a, "source"_a);
    module.def("relevel", &of_images<cuaug::Pointwise, &Loops::relevel_tasks, &Loops::relevel>, "record"_a, "source"_a);
    module.def("extremes", &of_images<cuaug::Pointwise, &Loops::extremes_tasks, &Loops::extremes>, "record"_a,
               "source"_a);
    module.def("lut", &of_images<cuaug::Lut, &Loops::lut_tasks, &Loops::lut>, "record"_a, "source"_a);
    module.def("nms", &nms, "record"_a, "source"_a);
    bind_loading(module);
    bind_engine(module);
    bind_launches(module);
    add_detection(module, &loops, &threads);
    module.def("set_threads", &set_threads, "n"_a, "0: one per usable processor.");
    module.def("threads", &threads);
    module.def("isa", [] { return std::string(loops().isa); }, "The instruction set in use.");
    module.def(
        "flags", [] { return std::string(loops().flags); },
        "Those of the compiler that made the loops in use, for what joins them.");
    module.def("isas", &isas, "Those this build has and this processor runs, the best one last.");
    module.def("set_isa", &set_isa, "name"_a);
    module.def("build_info", &build_info);
#ifdef CUAUG_JPEG
    add_jpeg(module, &threads);
#endif
}
