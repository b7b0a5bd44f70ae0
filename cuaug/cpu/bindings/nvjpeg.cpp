// Calls nvJPEG from a C++ thread, because a Python thread would compete for the GIL. Python passes the addresses of the
// functions.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "background_task.hpp"
#include "bindings.hpp"
#include "encoded_files.hpp"
#include "numpy_rows.hpp"

namespace py = pybind11;

namespace native {
namespace {

constexpr int output_rgbi = 5;  // NVJPEG_OUTPUT_RGBI of nvjpeg.h: interleaved RGB

// nvjpegImage_t of nvjpeg.h.
struct ImagePlanes {
    unsigned char* channel[4];
    std::size_t pitch[4];
};

using SetContext = int (*)(void* context);
using RecordEvent = int (*)(void* event, void* stream);
using SynchronizeEvent = int (*)(void* event);
using InitializeBatch = int (*)(void* handle, void* state, int images, int threads, int format);
using DecodeBatch = int (*)(void* handle, void* state, const unsigned char* const* data, const std::size_t* lengths,
                            ImagePlanes* images, void* stream);

// Addresses of cuCtxSetCurrent, cuEventRecord and cuEventSynchronize, and of the context.
using DriverAddresses = std::tuple<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t>;
// Addresses of nvjpegDecodeBatchedInitialize and nvjpegDecodeBatched.
using NvjpegAddresses = std::tuple<std::uintptr_t, std::uintptr_t>;

struct Driver {
    SetContext set_context;
    RecordEvent record_event;
    SynchronizeEvent synchronize_event;
    void* context;
};

struct Decoder {
    InitializeBatch initialize_batch;
    DecodeBatch decode_batch;
    void *handle, *state, *stream, *event;
};

template <class Pointer>
Pointer as(std::uintptr_t address) {
    return reinterpret_cast<Pointer>(address);
}

// Whether an nvjpegStatus_t is an error of the image: invalid parameter (a nonsensical header), bad JPEG, JPEG not
// supported, incomplete bitstream.
bool is_fault_of_image(int status) { return status == 2 || status == 3 || status == 4 || status == 10; }

void check(const char* function, int status) {
    if (status != 0) throw std::runtime_error(std::string(function) + " returned " + std::to_string(status));
}

struct DecodeBatchTask {
    Driver driver;
    Decoder decoder;
    std::shared_ptr<EncodedFiles> files;  // keeps `data` alive
    py::object memory;                    // keeps `images` alive
    std::vector<const unsigned char*> data{};
    std::vector<std::size_t> lengths{};
    std::vector<ImagePlanes> images{};
    std::vector<std::size_t> failed_rows{};

    void run() {
        check("cuCtxSetCurrent", driver.set_context(driver.context));
        try {
            if (!data.empty()) decode(0, data.size());
        } catch (...) {
            // nvJPEG may still be writing images of earlier calls: `memory` must outlive those writes.
            if (driver.record_event(decoder.event, decoder.stream) == 0) driver.synchronize_event(decoder.event);
            throw;
        }
        // `run` waits for the images, because work that is later put on a stream may start before nvJPEG's hardware
        // engine has finished. An event with blocking synchronization lets this thread sleep; waiting for the stream
        // would keep a processor busy.
        check("cuEventRecord", driver.record_event(decoder.event, decoder.stream));
        check("cuEventSynchronize", driver.synchronize_event(decoder.event));
    }

    // An image that fails makes its whole call fail. The images of a failed call are decoded again in two halves, until
    // the image is found.
    void decode(std::size_t first, std::size_t last) {
        const int count = static_cast<int>(last - first);
        check("nvjpegDecodeBatchedInitialize",
              decoder.initialize_batch(decoder.handle, decoder.state, count, 1, output_rgbi));
        const int status = decoder.decode_batch(decoder.handle, decoder.state, &data[first], &lengths[first],
                                                &images[first], decoder.stream);
        if (status == 0) return;
        if (!is_fault_of_image(status)) check("nvjpegDecodeBatched", status);
        if (count == 1) return failed_rows.push_back(first);
        decode(first, first + count / 2);
        decode(first + count / 2, last);
    }
};

// Decodes files into `memory`: each row of `images` (NvjpegImage) names a file, and the address and pitch of its pixels
// in `memory`. The task's result: the rows that failed.
std::unique_ptr<BackgroundTask> nvjpeg_decode(const std::shared_ptr<EncodedFiles>& files, const py::buffer& images,
                                              py::object memory, const DriverAddresses& driver,
                                              const NvjpegAddresses& functions, std::uintptr_t handle,
                                              std::uintptr_t state, std::uintptr_t stream, std::uintptr_t event) {
    const auto [set_context, record_event, synchronize_event, context] = driver;
    const auto [initialize_batch, decode_batch] = functions;
    const auto task = std::make_shared<DecodeBatchTask>(
        DecodeBatchTask{{as<SetContext>(set_context), as<RecordEvent>(record_event),
                         as<SynchronizeEvent>(synchronize_event), as<void*>(context)},
                        {as<InitializeBatch>(initialize_batch), as<DecodeBatch>(decode_batch), as<void*>(handle),
                         as<void*>(state), as<void*>(stream), as<void*>(event)},
                        files,
                        std::move(memory)});
    const NumpyRows<const NvjpegImage> requests(images);
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto [file, address, pitch] = requests[i];
        const unsigned char* data = files->data(files->checked_index(file));
        if (data == nullptr) throw py::value_error("file " + std::to_string(file) + " has no image");
        task->data.push_back(data);
        task->lengths.push_back(files->bytes(file));
        task->images.push_back({{as<unsigned char*>(address)}, {static_cast<std::size_t>(pitch)}});
    }
    return std::make_unique<BackgroundTask>([task] { task->run(); }, [task] { return py::cast(task->failed_rows); });
}

}  // namespace

void bind_nvjpeg(py::module_& module) {
    using namespace py::literals;
    module.def("nvjpeg_decode", &nvjpeg_decode, "files"_a.none(false), "images"_a, "memory"_a, "driver"_a,
               "functions"_a, "handle"_a, "state"_a, "stream"_a, "event"_a);
}

}  // namespace native
