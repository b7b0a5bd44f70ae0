// Reads the headers of the JPEG files of a batch; decodes files; encodes images.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "../jpeg/jpeg.hpp"
#include "../thread_pool.hpp"
#include "background_task.hpp"
#include "bindings.hpp"
#include "encoded_files.hpp"
#include "numpy_rows.hpp"

namespace py = pybind11;

namespace native {
namespace {

// Indexed by jpeg::Failure::Kind.
constexpr std::string_view exception_names[] = {"", "DecodeError", "ImageTooLarge", "UnsupportedImage"};

using LimitNumbers = std::tuple<long long, long long, long long, long long, long long, long long>;

jpeg::Limits limits_of(const LimitNumbers& numbers) {
    const auto [max_pixels, max_side, max_bytes, max_memory, max_scans, max_scan_pixels] = numbers;
    return {max_pixels, max_side, max_bytes, max_memory, max_scans, max_scan_pixels};
}

jpeg::Color color_named(const std::string& name) {
    if (name == "gray") return jpeg::Color::Gray;
    if (name == "rgb") return jpeg::Color::Rgb;
    if (name == "bgr") return jpeg::Color::Bgr;
    throw py::value_error("color '" + name + "' is not gray, rgb or bgr");
}

// Calls `work(i, failure)` for every image, on the threads of the pool. The caller has released the GIL. `threads`: 0
// for the number that `set_threads` sets.
template <class Work>
std::vector<jpeg::Failure> for_each_image(std::size_t images, int threads, const Work& work) {
    std::vector<jpeg::Failure> failures(images);
    ThreadPool::instance().run(
        static_cast<long long>(images), threads > 0 ? threads : native::threads(),
        [&](long long i, void*) { work(static_cast<std::size_t>(i), failures[static_cast<std::size_t>(i)]); });
    return failures;
}

py::str reason(const jpeg::Failure& failure) {
    return py::reinterpret_steal<py::str>(PyUnicode_DecodeLatin1(
        failure.reason, static_cast<Py_ssize_t>(std::string_view(failure.reason).size()), nullptr));
}

// The images that failed, each as (index, exception, reason).
py::list failed_images(const std::vector<jpeg::Failure>& failures) {
    py::list images;
    for (std::size_t i = 0; i < failures.size(); ++i)
        if (failures[i].kind != jpeg::Failure::None)
            images.append(py::make_tuple(i, exception_names[failures[i].kind], reason(failures[i])));
    return images;
}

// Writes the `jpeg::Header` of each file into its row of `out`. Returns the files that failed, whose rows stay as they
// are.
py::list read_headers(const EncodedFiles& files, const LimitNumbers& limits, const py::buffer& out, int threads) {
    const NumpyRows<jpeg::Header> headers(out, true);
    if (headers.size() != files.size()) throw py::value_error("every file needs a row");
    std::vector<jpeg::Failure> failures;
    {
        const py::gil_scoped_release release;
        failures = for_each_image(headers.size(), threads, [&](std::size_t i, jpeg::Failure& failure) {
            jpeg::read_header(files.data(i), files.bytes(i), limits_of(limits), headers[i], failure);
        });
    }
    return failed_images(failures);
}

struct DecodeTask {
    std::shared_ptr<EncodedFiles> files;
    jpeg::Limits limits;
    NumpyRows<const RegionToDecode> regions;
    jpeg::Color color;
    bool strict;
    py::object memory;  // owns the memory at the regions' addresses
    int threads;
    std::vector<jpeg::Failure> failures{};

    void run() {
        failures = for_each_image(regions.size(), threads, [&](std::size_t i, jpeg::Failure& failure) {
            const auto [file, scale, top, left, height, width, address, pitch] = regions[i];
            jpeg::decode(files->data(file), files->bytes(file), limits, static_cast<int>(scale),
                         {top, left, height, width}, color, strict, reinterpret_cast<unsigned char*>(address), pitch,
                         failure);
        });
    }
};

// Decodes regions in the background. The result: the images that failed, by row of `regions`.
std::unique_ptr<BackgroundTask> decode(const std::shared_ptr<EncodedFiles>& files, const LimitNumbers& limits,
                                       const py::buffer& regions, const std::string& color, bool strict, int threads,
                                       const py::object& memory) {
    const auto task =
        std::make_shared<DecodeTask>(DecodeTask{files, limits_of(limits), NumpyRows<const RegionToDecode>(regions),
                                                color_named(color), strict, memory, threads});
    for (std::size_t i = 0; i < task->regions.size(); ++i) files->checked_index(task->regions[i].file);
    return std::make_unique<BackgroundTask>([task] { task->run(); }, [task] { return failed_images(task->failures); });
}

using ImageArguments =
    std::tuple<std::uintptr_t, int, int, long long>;  // address of the first row, height, width, pitch

// Returns the encoded file of each image, or a string: the reason why there is none.
py::list encode(const std::vector<ImageArguments>& images, const std::string& color_name, int quality,
                int horizontal_subsampling, int vertical_subsampling, bool gray, bool progressive) {
    const jpeg::Color color = color_named(color_name);
    const jpeg::Encoding encoding = {quality, horizontal_subsampling, vertical_subsampling, gray, progressive};
    std::vector<jpeg::EncodedBytes> files(images.size());
    std::vector<jpeg::Failure> failures;
    {
        const py::gil_scoped_release release;
        failures = for_each_image(images.size(), 0, [&](std::size_t i, jpeg::Failure& failure) {
            const auto [address, height, width, pitch] = images[i];
            jpeg::encode(reinterpret_cast<const unsigned char*>(address), height, width, pitch, color, encoding,
                         files[i], failure);
        });
    }
    py::list results;
    for (std::size_t i = 0; i < images.size(); ++i) {
        if (failures[i].kind != jpeg::Failure::None)
            results.append(reason(failures[i]));
        else
            results.append(py::bytes(reinterpret_cast<const char*>(files[i].data), files[i].bytes));
    }
    return results;
}

template <std::size_t N>
py::tuple strings(const char* const (&list)[N]) {
    py::tuple result(N);
    for (std::size_t i = 0; i < N; ++i) result[i] = py::str(list[i]);
    return result;
}

}  // namespace

void bind_jpeg(py::module_& module) {
    using namespace py::literals;
    module.attr("libjpeg_turbo") = jpeg::version();
    module.attr("jpeg_subsamplings") = strings(jpeg::subsamplings);
    module.attr("jpeg_color_spaces") = strings(jpeg::color_spaces);
    module.def("jpeg_headers", &read_headers, "files"_a, "limits"_a, "out"_a, "threads"_a = 0);
    module.def("jpeg_decode", &decode, "files"_a.none(false), "limits"_a, "regions"_a, "color"_a, "strict"_a,
               "threads"_a = 0, "memory"_a = py::none());
    module.def("jpeg_encode", &encode, "images"_a, "color"_a, "quality"_a, "horizontal"_a, "vertical"_a, "gray"_a,
               "progressive"_a);
}

}  // namespace native
