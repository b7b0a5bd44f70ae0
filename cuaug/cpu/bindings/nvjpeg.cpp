// Calls nvJPEG, whose functions Python has found, from a thread of their own: from Python they would wait for its lock.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings.hpp"
#include "encoded_files.hpp"
#include "background_task.hpp"
#include "numpy_rows.hpp"

namespace py = pybind11;
using native::Files;
using native::Pending;
using native::Table;

namespace {

constexpr int interleaved_rgb = 5;  // of nvjpeg.h

struct Planes {
    unsigned char* channel[4];
    std::size_t pitch[4];
};

using OfDriver = int (*)(void* context_or_event);
using Record = int (*)(void* event, void* stream);
using Initialize = int (*)(void* handle, void* state, int images, int threads, int format);
using Decode = int (*)(void* handle, void* state, const unsigned char* const* data, const std::size_t* lengths,
                       Planes* images, void* stream);

template <class T>
T at(std::uintptr_t address) {
    return reinterpret_cast<T>(address);
}

// What an image is to blame for: bad, not supported, cut off, or with a header that makes no sense.
bool is_of_image(int status) { return status == 3 || status == 4 || status == 10 || status == 2; }

// A batch for the engine of a GPU.
struct Batch {
    std::shared_ptr<Files> files;  // keeps what `data` points to
    py::object memory;             // and what `images` do
    std::uintptr_t enter, record, synchronize, context, initialize, decode, handle, state, stream, event;
    std::vector<const unsigned char*> data{};
    std::vector<std::size_t> lengths{};
    std::vector<Planes> images{};
    std::vector<std::size_t> failed{};

    void run() {
        if (const int status = at<OfDriver>(enter)(at<void*>(context))) fail("cuCtxSetCurrent", status);
        if (!data.empty()) run(0, data.size());
        // Whoever takes the images away finds them whole: an engine does not wait for a stream, nor all that follows
        // for it. The event is one that this thread sleeps for: to wait for a stream keeps a processor busy.
        if (const int status = at<Record>(record)(at<void*>(event), at<void*>(stream))) fail("cuEventRecord", status);
        if (const int status = at<OfDriver>(synchronize)(at<void*>(event))) fail("cuEventSynchronize", status);
    }

    [[noreturn]] static void fail(const char* name, int status) {
        throw std::runtime_error(std::string(name) + " gives " + std::to_string(status));
    }

    // An image that fails takes all others of a call with it; so what fails is divided, until it is found.
    void run(std::size_t first, std::size_t last) {
        const int count = static_cast<int>(last - first);
        int status = at<Initialize>(initialize)(at<void*>(handle), at<void*>(state), count, 1, interleaved_rgb);
        if (status != 0) fail("nvjpegDecodeBatchedInitialize", status);
        status = at<Decode>(decode)(at<void*>(handle), at<void*>(state), &data[first], &lengths[first], &images[first],
                                    at<void*>(stream));
        if (status == 0) return;
        if (!is_of_image(status)) fail("nvjpegDecodeBatched", status);
        if (count == 1) return failed.push_back(first);
        run(first, first + count / 2);
        run(first + count / 2, last);
    }
};

using Driver = std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t,
                          std::uintptr_t>;  // cuCtxSetCurrent, cuEventRecord, cuEventSynchronize, and the context
using Functions = std::tuple<std::uintptr_t, std::uintptr_t>;  // nvjpegDecodeBatchedInitialize, nvjpegDecodeBatched

// An image that is wanted: of which file, and where it goes, in bytes from a row to the next.
struct Image {
    std::int64_t place, address, pitch;
};

// `images`, a row of `Image` each, lie in `memory`. Result: which have failed.
std::unique_ptr<Pending> engine_decode(const std::shared_ptr<Files>& files, const py::buffer& images, py::object memory,
                                       const Driver& driver, const Functions& functions, std::uintptr_t handle,
                                       std::uintptr_t state, std::uintptr_t stream, std::uintptr_t event) {
    const auto batch = std::make_shared<Batch>();
    *batch = {files,
              memory,
              std::get<0>(driver),
              std::get<1>(driver),
              std::get<2>(driver),
              std::get<3>(driver),
              std::get<0>(functions),
              std::get<1>(functions),
              handle,
              state,
              stream,
              event};
    const Table<const Image> wanted(images);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const auto [place, address, pitch] = wanted[i];
        batch->data.push_back(files->data(files->checked(place)));
        batch->lengths.push_back(files->bytes(place));
        batch->images.push_back({{at<unsigned char*>(address)}, {static_cast<std::size_t>(pitch)}});
    }
    return std::make_unique<Pending>([batch] { batch->run(); }, [batch] { return py::cast(batch->failed); });
}

}  // namespace

void native::bind_nvjpeg(py::module_& module) {
    using namespace py::literals;
    py::class_<Pending>(module, "Pending").def("begin", &Pending::begin).def("wait", &Pending::wait);
    module.def("engine_decode", &engine_decode, "files"_a, "images"_a, "memory"_a, "driver"_a, "functions"_a,
               "handle"_a, "state"_a, "stream"_a, "event"_a);
}
