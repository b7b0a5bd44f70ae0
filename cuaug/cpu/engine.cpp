// Calls nvJPEG, whose functions Python has found, from a thread of their own: from Python they would wait for its lock.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "engine.hpp"
#include "pending.hpp"

namespace py = pybind11;
using native::Pending;

namespace {

constexpr int interleaved_rgb = 5;  // of nvjpeg.h

struct Planes {
    unsigned char* channel[4];
    std::size_t pitch[4];
};

using Enter = int (*)(void* context);
using Initialize = int (*)(void* handle, void* state, int images, int threads, int format);
using Decode = int (*)(void* handle, void* state, const unsigned char* const* data, const std::size_t* lengths, Planes* images, void* stream);

template <class T>
T at(std::uintptr_t address) { return reinterpret_cast<T>(address); }

// A batch for the engine of a GPU.
struct Batch {
    py::list files;  // keeps what `data` points to
    std::uintptr_t enter, context, initialize, decode, handle, state, stream;
    std::vector<const unsigned char*> data{};
    std::vector<std::size_t> lengths{};
    std::vector<Planes> images{};
    std::vector<std::size_t> failed{};

    void run() {
        if (at<Enter>(enter)(at<void*>(context)) != 0) throw std::runtime_error("the GPU's context cannot be entered");
        if (!data.empty()) run(0, data.size());
    }

    // An image that fails takes all others of a call with it; so what fails is divided, until it is found.
    void run(std::size_t first, std::size_t last) {
        const int count = static_cast<int>(last - first);
        if (at<Initialize>(initialize)(at<void*>(handle), at<void*>(state), count, 1, interleaved_rgb) == 0 &&
            at<Decode>(decode)(at<void*>(handle), at<void*>(state), &data[first], &lengths[first], &images[first], at<void*>(stream)) == 0)
            return;
        if (count == 1) return failed.push_back(first);
        run(first, first + count / 2);
        run(first + count / 2, last);
    }
};

// Images: address and bytes from a row to the next, of as many as there are files. Result: which have failed.
std::unique_ptr<Pending> engine_begin(py::list files, const std::vector<std::tuple<std::uintptr_t, std::size_t>>& images,
                                      const std::tuple<std::uintptr_t, std::uintptr_t>& context, const std::tuple<std::uintptr_t, std::uintptr_t>& functions,
                                      std::uintptr_t handle, std::uintptr_t state, std::uintptr_t stream) {
    if (files.size() != images.size()) throw py::value_error("every file needs a place");
    const auto batch = std::make_shared<Batch>();
    *batch = {files, std::get<0>(context), std::get<1>(context), std::get<0>(functions), std::get<1>(functions), handle, state, stream};
    for (const auto& file : files) {
        const auto bytes = py::cast<std::string_view>(file);
        batch->data.push_back(reinterpret_cast<const unsigned char*>(bytes.data()));
        batch->lengths.push_back(bytes.size());
    }
    for (const auto& [address, pitch] : images) batch->images.push_back({{at<unsigned char*>(address)}, {pitch}});
    return std::make_unique<Pending>([batch] { batch->run(); }, [batch] { return py::cast(batch->failed); });
}

}  // namespace

void bind_engine(py::module_& module) {
    using namespace py::literals;
    py::class_<Pending>(module, "Pending").def("wait", &Pending::wait);
    module.def("engine_begin", &engine_begin, "files"_a, "images"_a, "context"_a, "functions"_a, "handle"_a, "state"_a, "stream"_a);
}
