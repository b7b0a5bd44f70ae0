#include "bindings.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <pybind11/stl.h>

#include "encoded_files.hpp"
#include "../jpeg/jpeg.hpp"
#include "background_task.hpp"
#include "../thread_pool.hpp"
#include "numpy_rows.hpp"

namespace py = pybind11;
using native::Files;
using native::Pending;
using native::ThreadPool;
using native::Table;

namespace {

constexpr std::string_view kinds[] = {"", "DecodeError", "ImageTooLarge", "UnsupportedImage"};

using Numbers = std::tuple<long long, long long, long long, long long, int>;
using Image = std::tuple<std::uintptr_t, int, int,
                         long long>;  // where the first row is, height, width, and bytes from row to row

// What is decoded of which file, and where to: the first row, and bytes from one to the next.
struct Part {
    std::int64_t place, scale, top, left, height, width, address, pitch;
};

jpeg::Limits limits_of(const Numbers& numbers) {
    return {std::get<0>(numbers), std::get<1>(numbers), std::get<2>(numbers), std::get<3>(numbers),
            std::get<4>(numbers)};
}

jpeg::Color color_of(const std::string& name) {
    if (name == "gray") return jpeg::Color::Gray;
    if (name == "rgb") return jpeg::Color::Rgb;
    if (name == "bgr") return jpeg::Color::Bgr;
    throw py::value_error("color '" + name + "' is not known to the decoder");
}

// Calls `work(i, failure)` for every image on the pool. `threads`: 0 for as many as other calls use.
template <class Work>
std::vector<jpeg::Failure> on_pool(std::size_t images, int threads, const Work& work) {
    std::vector<jpeg::Failure> failures(images);
    ThreadPool::instance().run(
        static_cast<long long>(images), threads > 0 ? threads : native::threads(),
        [&](long long i, void*) { work(static_cast<std::size_t>(i), failures[static_cast<std::size_t>(i)]); });
    return failures;
}

template <class Work>
std::vector<jpeg::Failure> for_each(std::size_t images, int threads, const Work& work) {
    const py::gil_scoped_release release;
    return on_pool(images, threads, work);
}

py::str reason(const jpeg::Failure& failure) {
    return py::reinterpret_steal<py::str>(PyUnicode_DecodeLatin1(
        failure.reason, static_cast<Py_ssize_t>(std::string_view(failure.reason).size()), nullptr));
}

// (place, kind, reason) of what has failed.
py::list failed(const std::vector<jpeg::Failure>& failures) {
    py::list out;
    for (std::size_t i = 0; i < failures.size(); ++i)
        if (failures[i].kind != jpeg::Failure::None)
            out.append(py::make_tuple(i, kinds[failures[i].kind], reason(failures[i])));
    return out;
}

// Fills a row of `out` for each file, but for those that it returns.
py::list headers(const Files& files, const Numbers& limits, const py::buffer& out, int threads) {
    const Table<jpeg::Header> found(out, true);
    if (found.size() != files.size()) throw py::value_error("every file needs a row");
    return failed(for_each(found.size(), threads, [&](std::size_t i, jpeg::Failure& failure) {
        jpeg::read_header(files.data(i), files.bytes(i), limits_of(limits), found[i], failure);
    }));
}

// Parts of images, to be decoded.
struct Decoding {
    std::shared_ptr<Files> files;
    jpeg::Limits limits;
    Table<const Part> parts;
    jpeg::Color color;
    bool strict;
    py::object memory;  // that they go to
    int threads;
    std::vector<jpeg::Failure> failures{};

    void run() {
        failures = on_pool(parts.size(), threads, [&](std::size_t i, jpeg::Failure& failure) {
            const auto [place, scale, top, left, height, width, address, pitch] = parts[i];
            jpeg::decode(files->data(place), files->bytes(place), limits, static_cast<int>(scale),
                         {top, left, height, width}, color, strict, reinterpret_cast<unsigned char*>(address), pitch,
                         failure);
        });
    }
};

// Result: `failed`, by places in `parts`, whose rows are each a `Part`.
std::unique_ptr<Pending> decode(const std::shared_ptr<Files>& files, const Numbers& limits, const py::buffer& parts,
                                const std::string& color, bool strict, int threads, const py::object& memory) {
    const auto work = std::make_shared<Decoding>(
        Decoding{files, limits_of(limits), Table<const Part>(parts), color_of(color), strict, memory, threads});
    for (std::size_t i = 0; i < work->parts.size(); ++i) files->checked(work->parts[i].place);
    return std::make_unique<Pending>([work] { work->run(); }, [work] { return failed(work->failures); });
}

template <std::size_t N>
py::tuple names(const char* const (&list)[N]) {
    py::tuple out(N);
    for (std::size_t i = 0; i < N; ++i) out[i] = py::str(list[i]);
    return out;
}

// Bytes of each, or why there are none.
py::list encode(const std::vector<Image>& images, const std::string& color, int quality, int horizontal, int vertical,
                bool gray, bool progressive) {
    const jpeg::Color given = color_of(color);
    std::vector<jpeg::Encoded> files(images.size());
    const auto failures = for_each(images.size(), 0, [&](std::size_t i, jpeg::Failure& failure) {
        const auto [address, height, width, pitch] = images[i];
        jpeg::encode(reinterpret_cast<const unsigned char*>(address), height, width, pitch, given,
                     {quality, horizontal, vertical, gray, progressive}, files[i], failure);
    });
    py::list out;
    for (std::size_t i = 0; i < images.size(); ++i) {
        if (failures[i].kind != jpeg::Failure::None)
            out.append(reason(failures[i]));
        else
            out.append(py::bytes(reinterpret_cast<const char*>(files[i].data), files[i].bytes));
    }
    return out;
}

}  // namespace

void native::bind_jpeg(py::module_& module) {
    using namespace py::literals;
    module.attr("libjpeg_turbo") = jpeg::version();
    module.attr("jpeg_subsamplings") = names(jpeg::subsamplings);
    module.attr("jpeg_spaces") = names(jpeg::spaces);
    module.def("jpeg_headers", &headers, "files"_a, "limits"_a, "out"_a, "threads"_a = 0);
    module.def("jpeg_decode", &decode, "files"_a, "limits"_a, "parts"_a, "color"_a, "strict"_a, "threads"_a = 0,
               "memory"_a = py::none());
    module.def("jpeg_encode", &encode, "images"_a, "color"_a, "quality"_a, "horizontal"_a, "vertical"_a, "gray"_a,
               "progressive"_a);
}
