#include "jpeg_module.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <pybind11/stl.h>

#include "jpeg.hpp"
#include "pending.hpp"
#include "pool.hpp"

namespace py = pybind11;
using native::Pending;
using native::Pool;

namespace {

int (*thread_count)() = nullptr;

constexpr std::string_view kinds[] = {"", "DecodeError", "ImageTooLarge", "UnsupportedImage"};

using Numbers = std::tuple<long long, long long, long long, long long, int>;
using Region = std::tuple<long long, long long, long long, long long>;
using Rows = std::tuple<std::uintptr_t, long long>;                       // where the first is, and bytes from one to the next
using Image = std::tuple<std::uintptr_t, int, int, long long>;            // the same, with height and width between them

jpeg::Limits limits_of(const Numbers& numbers) { return {std::get<0>(numbers), std::get<1>(numbers), std::get<2>(numbers), std::get<3>(numbers), std::get<4>(numbers)}; }

jpeg::Color color_of(const std::string& name) {
    if (name == "gray") return jpeg::Color::Gray;
    if (name == "rgb") return jpeg::Color::Rgb;
    if (name == "bgr") return jpeg::Color::Bgr;
    throw py::value_error("color '" + name + "' is not known to the decoder");
}

// Bytes of Python objects, which are held until the work is done.
class Files {
public:
    explicit Files(const std::vector<py::buffer>& objects) {
        for (const py::buffer& object : objects) {
            views_.push_back(object.request());
            const py::buffer_info& view = views_.back();
            if (view.ndim != 1 || view.itemsize != 1 || (view.shape[0] > 1 && view.strides[0] != 1)) throw py::value_error("encoded data are contiguous bytes");
        }
    }

    const unsigned char* data(std::size_t i) const { return static_cast<const unsigned char*>(views_[i].ptr); }
    std::size_t bytes(std::size_t i) const { return static_cast<std::size_t>(views_[i].size); }

private:
    std::vector<py::buffer_info> views_;
};

// Calls `work(i, failure)` for every image on the pool. `threads`: 0 for as many as other calls use.
template <class Work>
std::vector<jpeg::Failure> on_pool(std::size_t images, int threads, const Work& work) {
    std::vector<jpeg::Failure> failures(images);
    Pool::instance().run(static_cast<long long>(images), threads > 0 ? threads : thread_count(), [&](long long i, void*) { work(static_cast<std::size_t>(i), failures[static_cast<std::size_t>(i)]); });
    return failures;
}

template <class Work>
std::vector<jpeg::Failure> for_each(std::size_t images, int threads, const Work& work) {
    const py::gil_scoped_release release;
    return on_pool(images, threads, work);
}

// What stands for an image: its failure, (kind, reason), or what `value` makes of it.
template <class Value>
py::list results(const std::vector<jpeg::Failure>& failures, const Value& value) {
    py::list out;
    for (std::size_t i = 0; i < failures.size(); ++i) {
        if (failures[i].kind != jpeg::Failure::None)
            out.append(py::make_tuple(kinds[failures[i].kind], py::reinterpret_steal<py::str>(PyUnicode_DecodeLatin1(failures[i].reason, static_cast<Py_ssize_t>(std::string_view(failures[i].reason).size()), nullptr))));
        else
            out.append(value(i));
    }
    return out;
}

void same_count(std::size_t count, std::size_t files) {
    if (count != files) throw py::value_error("there are " + std::to_string(files) + " files, and " + std::to_string(count) + " of what each one needs");
}

py::list headers(const std::vector<py::buffer>& objects, const Numbers& limits, int threads) {
    const Files files(objects);
    std::vector<jpeg::Header> found(objects.size());
    const auto failures = for_each(found.size(), threads, [&](std::size_t i, jpeg::Failure& failure) { jpeg::read_header(files.data(i), files.bytes(i), limits_of(limits), found[i], failure); });
    return results(failures, [&](std::size_t i) {
        const jpeg::Header& header = found[i];
        return py::make_tuple(header.height, header.width, header.channels, header.subsampling, header.space, header.progressive, header.orientation);
    });
}

// Parts of images, to be decoded.
struct Decoding {
    Files files;
    jpeg::Limits limits;
    std::vector<int> scales;
    std::vector<Region> regions;
    jpeg::Color color;
    bool strict;
    std::vector<Rows> outs;
    int threads;
    std::vector<jpeg::Failure> failures{};

    void run() {
        failures = on_pool(outs.size(), threads, [&](std::size_t i, jpeg::Failure& failure) {
            const auto [top, left, height, width] = regions[i];
            const auto [address, pitch] = outs[i];
            jpeg::decode(files.data(i), files.bytes(i), limits, scales[i], {top, left, height, width}, color, strict, reinterpret_cast<unsigned char*>(address), pitch, failure);
        });
    }

    py::list found() const {
        return results(failures, [](std::size_t) { return py::none(); });
    }
};

std::shared_ptr<Decoding> prepared(const std::vector<py::buffer>& objects, const Numbers& limits, const std::vector<int>& scales, const std::vector<Region>& regions,
                                   const std::string& color, bool strict, const std::vector<Rows>& outs, int threads) {
    same_count(scales.size(), objects.size());
    same_count(regions.size(), objects.size());
    same_count(outs.size(), objects.size());
    return std::make_shared<Decoding>(Decoding{Files(objects), limits_of(limits), scales, regions, color_of(color), strict, outs, threads});
}

py::list decode(const std::shared_ptr<Decoding>& work) {
    {
        const py::gil_scoped_release release;
        work->run();
    }
    return work->found();
}

std::unique_ptr<Pending> begin_decode(const std::shared_ptr<Decoding>& work) {
    return std::make_unique<Pending>([work] { work->run(); }, [work] { return work->found(); });
}

// A function of what `prepared` takes.
template <class Result>
void define_decode(py::module_& module, const char* name, Result (*run)(const std::shared_ptr<Decoding>&)) {
    using namespace py::literals;
    module.def(
        name,
        [run](const std::vector<py::buffer>& files, const Numbers& limits, const std::vector<int>& scales, const std::vector<Region>& regions, const std::string& color,
              bool strict, const std::vector<Rows>& outs, int threads) { return run(prepared(files, limits, scales, regions, color, strict, outs, threads)); },
        "files"_a, "limits"_a, "scales"_a, "regions"_a, "color"_a, "strict"_a, "outs"_a, "threads"_a = 0);
}

py::list encode(const std::vector<Image>& images, const std::string& color, int quality, int horizontal, int vertical, bool gray, bool progressive) {
    const jpeg::Color given = color_of(color);
    std::vector<jpeg::Encoded> files(images.size());
    const auto failures = for_each(images.size(), 0, [&](std::size_t i, jpeg::Failure& failure) {
        const auto [address, height, width, pitch] = images[i];
        jpeg::encode(reinterpret_cast<const unsigned char*>(address), height, width, pitch, given, {quality, horizontal, vertical, gray, progressive}, files[i], failure);
    });
    return results(failures, [&](std::size_t i) { return py::bytes(reinterpret_cast<const char*>(files[i].data), files[i].bytes); });
}

}  // namespace

void add_jpeg(py::module_& module, int (*threads)()) {
    using namespace py::literals;
    thread_count = threads;
    module.attr("libjpeg_turbo") = jpeg::version();
    module.def("jpeg_headers", &headers, "files"_a, "limits"_a, "threads"_a = 0);
    define_decode(module, "jpeg_decode", &decode);
    define_decode(module, "jpeg_begin_decode", &begin_decode);
    module.def("jpeg_encode", &encode, "images"_a, "color"_a, "quality"_a, "horizontal"_a, "vertical"_a, "gray"_a, "progressive"_a);
}
