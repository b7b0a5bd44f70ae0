// Bindings of the loops over images and of the draws of parameters.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "borders/border.cuh"
#include "draws/program.cuh"
#include "geometry/geometries.cuh"
#include "ops/mixes/mixes.cuh"
#include "ops/ops.cuh"
#include "records/blend.cuh"
#include "records/gaussian_blur.cuh"
#include "records/lut.cuh"
#include "records/pointwise.cuh"
#include "records/batch.cuh"
#include "records/warp_image.cuh"
#include "records/resample.cuh"
#include "samplers/filter.cuh"
#include "samplers/samplers.cuh"
#include "../loops/dispatch_dtype.hpp"
#include "../loops/dispatch_functor.hpp"
#include "../loops/loops.hpp"
#include "bindings.hpp"
#include "bound_loop.hpp"
#include "names.hpp"
#include "record.hpp"
#include "record_limits.hpp"

namespace py = pybind11;
using namespace native;

namespace {

// Only a pointwise loop needs to know whether it is the last loop of a run.
template <class Call>
void set_is_last(Call&, bool) {}
void set_is_last(PointwiseCall& call, bool is_last) { call.is_last = is_last; }

// The values that a loop writes; a resample may reduce large images to small ones, so it counts those that it reads if
// they are more.
double count_values(const cuaug::BatchRecord& batch) {
    return 1.0 * batch.samples * batch.frames * batch.channels * batch.out_height * batch.out_width;
}
double count_values(const cuaug::ResampleRecord& record) {
    const cuaug::BatchRecord& batch = record;
    double in_pixels = 1.0 * batch.samples * batch.in_height * batch.in_width;
    if (batch.in_height == 0)  // a ragged batch
        for (long long n = 0; n < batch.samples; ++n) {
            const cuaug::RaggedImage& image = cuaug::ragged_image(batch, n);
            in_pixels += 1.0 * image.height * image.width;
        }
    return std::max(count_values(batch), in_pixels * batch.frames * batch.channels);
}

// The call may point to memory besides its record: `owner` keeps that memory alive.
template <class Record, class Call>
BoundLoop bind_loop(const py::bytes& bytes, const Call& call, LoopFunctions<Call> LoopTable::* functions,
                    const std::shared_ptr<const void>& owner = nullptr) {
    const auto check = [](const py::bytes& record) { check_limits(unpack_record<Record>(record)); };
    check(bytes);
    const auto with_record = [call](const void* record) {
        Call ready = call;
        ready.record = static_cast<const Record*>(record);
        return ready;
    };
    return {
        unpack_record<Record>(bytes).samples,
        false,
        check,
        [](const void* record) { return count_values(*static_cast<const Record*>(record)); },
        [=](const LoopTable& table, const void* record) { return (table.*functions).task_count(with_record(record)); },
        [=](const LoopTable& table, const void* record, long long task, void* workspace, bool is_last) {
            static_cast<void>(owner);  // captured, to live as long as the loop
            Call ready = with_record(record);
            set_is_last(ready, is_last);
            (table.*functions).run_task(ready, task, workspace);
        }};
}

Dtype image_dtype(const std::string& name) {
    const Dtype dtype = dtype_named(name);
    if (!cuaug::is_image_dtype(dtype))
        throw py::value_error("pixels of dtype '" + name +
                              "' can be moved with Nearest, but not interpolated or converted");
    return dtype;
}

template <class... Geometries>
BoundLoop bind_warp_image(cuaug::TypeList<Geometries...>, const py::bytes& record, const WarpCall& call) {
    using Bind = BoundLoop (*)(const py::bytes&, const WarpCall&);
    static constexpr Bind bind[] = {[](const py::bytes& bytes, const WarpCall& warp_call) {
        return bind_loop<cuaug::WarpRecord<Geometries>>(bytes, warp_call, &LoopTable::warp_image);
    }...};
    return bind[static_cast<int>(call.geometry)](record, call);
}

BoundLoop warp_image(const py::bytes& record, const std::string& in_dtype, const std::string& out_dtype,
                     const std::string& geometry, const std::string& sampler, const std::string& border) {
    const auto sampler_index = index_of<Sampler>(cuaug::Samplers(), sampler, "sampler");
    const bool copies_pixels = in_dtype == out_dtype && sampler_index == cuaug::sampler_of<cuaug::Nearest>;
    const auto find_dtype = copies_pixels ? &dtype_named : &image_dtype;
    return bind_warp_image(cuaug::Geometries(), record,
                           {nullptr, find_dtype(in_dtype), find_dtype(out_dtype),
                            index_of<Geometry>(cuaug::Geometries(), geometry, "geometry"), sampler_index,
                            index_of<Border>(cuaug::Borders(), border, "border")});
}

BoundLoop resample(const py::bytes& record, const std::string& in_dtype, const std::string& out_dtype,
                   const std::string& filter) {
    const ResampleCall call = {nullptr, image_dtype(in_dtype), image_dtype(out_dtype),
                               index_of<Filter>(cuaug::Filters(), filter, "filter")};
    return bind_loop<cuaug::ResampleRecord>(record, call, &LoopTable::resample);
}

// A chain of ops. Each is the name of a built-in op, or (address, number of parameters) of a user's op, where the
// address is that of its native::UserOpLoop.
using Chain = std::vector<std::variant<std::string, std::pair<std::uintptr_t, int>>>;

std::shared_ptr<const std::vector<ChainOp>> find_ops(const Chain& chain) {
    const auto ops = std::make_shared<std::vector<ChainOp>>();
    for (const auto& op : chain) {
        if (const auto* name = std::get_if<std::string>(&op)) {
            ops->push_back({index_of<Op>(cuaug::Ops::For<float, 3>(), *name, "op"), nullptr, 0});
        } else {
            const auto [address, params] = std::get<1>(op);
            if (address == 0 || params < 0 || params > max_op_params)
                throw py::value_error("a user's op has an address, and at most " + std::to_string(max_op_params) +
                                      " fields");
            ops->push_back({Op(), reinterpret_cast<UserOpLoop>(address), params});
        }
    }
    if (ops->size() > max_ops) throw py::value_error("a chain has at most " + std::to_string(max_ops) + " ops");
    return ops;
}

BoundLoop pointwise(const py::bytes& record, const std::string& in_dtype, const std::string& out_dtype,
                    const Chain& chain, int out_channels) {
    const auto ops = find_ops(chain);
    const auto check_channels = [=](const py::bytes& bytes) {
        const int channels = unpack_record<cuaug::PointwiseRecord>(bytes).channels;
        require(out_channels == channels || (channels <= 4 && out_channels >= 1 && out_channels <= 4),
                "as many channels as the result, unless both have at most 4");
    };
    check_channels(record);
    const PointwiseCall call = {nullptr,
                                image_dtype(in_dtype),
                                image_dtype(out_dtype),
                                ops->data(),
                                static_cast<int>(ops->size()),
                                out_channels,
                                false,
                                false};
    BoundLoop loop = bind_loop<cuaug::PointwiseRecord>(record, call, &LoopTable::pointwise, ops);
    loop.check = [check_record = loop.check, check_channels](const py::bytes& bytes) {
        check_record(bytes);
        check_channels(bytes);
    };
    return loop;
}

BoundLoop luma_mean(const py::bytes& record, const std::string& dtype, const Chain& chain, bool in_place) {
    const auto ops = find_ops(chain);
    const PointwiseCall call = {nullptr,
                                image_dtype(dtype),
                                cuaug::dtype_of<cuaug::float64>,
                                ops->data(),
                                static_cast<int>(ops->size()),
                                1,
                                in_place,
                                false};
    return bind_loop<cuaug::PointwiseRecord>(record, call, &LoopTable::luma_mean, ops);
}

BoundLoop mix(const py::bytes& record, const std::string& dtype, const std::string& mix_name) {
    const MixCall call = {nullptr, image_dtype(dtype), index_of<Mix>(cuaug::Mixes::For<float, 3>(), mix_name, "mix")};
    BoundLoop loop = bind_loop<cuaug::PointwiseRecord>(record, call, &LoopTable::mix);
    loop.reads_other_samples = true;
    return loop;
}

// A loop whose only arguments are a record and the images' dtype.
template <class Record, LoopFunctions<RecordCall> LoopTable::* Functions>
BoundLoop image_loop(const py::bytes& record, const std::string& dtype) {
    return bind_loop<Record>(record, RecordCall{nullptr, image_dtype(dtype)}, Functions);
}

BoundLoop jpeg(const py::bytes& record, const std::string& dtype) {
    require(dtype_named(dtype) == cuaug::dtype_of<cuaug::uint8>, "uint8 pixels");
    const auto check_channels = [](const py::bytes& bytes) {
        const int channels = unpack_record<cuaug::PointwiseRecord>(bytes).channels;
        require(channels == 1 || channels == 3, "1 or 3 channels");
    };
    check_channels(record);
    BoundLoop loop = image_loop<cuaug::PointwiseRecord, &LoopTable::jpeg>(record, dtype);
    loop.check = [check_record = loop.check, check_channels](const py::bytes& bytes) {
        check_record(bytes);
        check_channels(bytes);
    };
    return loop;
}

BoundLoop draw(const py::bytes& bytes) {
    const auto unpacked = unpack_record<cuaug::DrawRecord>(bytes);
    return {unpacked.samples,
            false,
            [](const py::bytes& record) { unpack_record<cuaug::DrawRecord>(record); },
            [](const void*) { return 0.0; },
            [](const LoopTable&, const void* record) -> long long {
                return static_cast<const cuaug::DrawRecord*>(record)->samples;
            },
            [](const LoopTable&, const void* record, long long n, void*, bool) {
                const auto& args = *static_cast<const cuaug::DrawRecord*>(record);
                const auto stream = cuaug::stream_of(args, args.step, cuaug::sample_id(args, n));
                cuaug::run_program(args, args.program, args.table + n * args.table_stride, stream, n, /*exists=*/true,
                                   /*rank=*/0, /*ranks=*/1, /*barrier=*/[] {});
            }};
}

}  // namespace

void native::bind_loops(py::module_& module) {
    using namespace py::literals;
    py::class_<BoundLoop>(module, "BoundLoop",
                          "A loop with its arguments except the record, for `run` and `LoopSequence`.");
    module.def("warp_image", &warp_image, "record"_a, "in_dtype"_a, "out_dtype"_a, "geometry"_a, "sampler"_a,
               "border"_a);
    module.def("resample", &resample, "record"_a, "in_dtype"_a, "out_dtype"_a, "filter"_a);
    module.def("pointwise", &pointwise, "record"_a, "in_dtype"_a, "out_dtype"_a, "ops"_a, "out_channels"_a);
    module.def("luma_mean", &luma_mean, "record"_a, "dtype"_a, "ops"_a, "in_place"_a);
    module.def("mix", &mix, "record"_a, "dtype"_a, "mix"_a);
    module.def("gaussian_blur", &image_loop<cuaug::GaussianBlurRecord, &LoopTable::gaussian_blur>, "record"_a,
               "dtype"_a);
    module.def("adjust_sharpness", &image_loop<cuaug::PointwiseRecord, &LoopTable::adjust_sharpness>, "record"_a,
               "dtype"_a);
    module.def("blend", &image_loop<cuaug::BlendRecord, &LoopTable::blend>, "record"_a, "dtype"_a);
    module.def("histogram_lut", &image_loop<cuaug::PointwiseRecord, &LoopTable::histogram_lut>, "record"_a, "dtype"_a);
    module.def("jpeg", &jpeg, "record"_a, "dtype"_a);
    module.def("channel_min_max", &image_loop<cuaug::PointwiseRecord, &LoopTable::channel_min_max>, "record"_a,
               "dtype"_a);
    module.def("lut", &image_loop<cuaug::LutRecord, &LoopTable::lut>, "record"_a, "dtype"_a);
    module.def("draw", &draw, "record"_a);
}
