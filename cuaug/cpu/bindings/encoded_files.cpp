// The encoded images of a batch, and the choice of the regions to decode.

#include "encoded_files.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pybind11/pybind11.h>

#include "../jpeg/decode_region.hpp"
#include "../thread_pool.hpp"
#include "bindings.hpp"
#include "numpy_rows.hpp"

namespace py = pybind11;

namespace native {
namespace {

struct FileRange {
    std::size_t file;  // index among the entries
    const char* path;
    long long offset;
    long long bytes;  // negative: to the end of the file; after `measure`, negative: an error
};

// Memory that the file ranges of a batch are read into.
struct Block {
    std::size_t size;
    std::unique_ptr<unsigned char[]> data;
};

// Up to two blocks are kept for the next batches: mapping and unmapping their pages takes longer than all other work in
// this file. The pointers are atomic and there is no mutex, because a fork might copy a locked mutex.
std::atomic<Block*> spare_blocks[2];
constexpr std::size_t max_spare_bytes = 64 << 20;

void recycle(Block* block) {
    for (std::atomic<Block*>& spare : spare_blocks) {
        Block* empty = nullptr;
        if (block->size <= max_spare_bytes && spare.compare_exchange_strong(empty, block)) return;
    }
    delete block;
}

// A block of at least `size` bytes.
std::shared_ptr<Block> take_block(std::size_t size) {
    for (std::atomic<Block*>& spare : spare_blocks) {
        std::unique_ptr<Block> block(spare.exchange(nullptr));
        if (block && block->size >= size) return {block.release(), recycle};
    }
    const std::size_t capacity = size + size / 4;  // the next batch may be somewhat larger
    return {new Block{capacity, std::unique_ptr<unsigned char[]>(new unsigned char[capacity])}, recycle};
}

// The number of bytes to read; -1 with an error if the range cannot be read.
long long measure(const FileRange& range, long long max_bytes, std::string& error) {
    struct stat status;
    if (stat(range.path, &status) != 0) return error = std::strerror(errno), -1;
    if (!S_ISREG(status.st_mode)) return error = "not a file", -1;
    const long long available = status.st_size - range.offset, bytes = range.bytes < 0 ? available : range.bytes;
    if (range.offset < 0 || bytes > available || available < 0) return error = "the range is not within the file", -1;
    if (max_bytes > 0 && bytes > max_bytes)
        return error = std::to_string(bytes) + " bytes, more than the limit of " + std::to_string(max_bytes), -1;
    return bytes;
}

// Reads a measured range; false with an error if that fails.
bool read(const FileRange& range, unsigned char* out, std::string& error) {
    const int file = open(range.path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return error = std::strerror(errno), false;
    long long bytes_read = 0;
    while (bytes_read < range.bytes) {
        const ssize_t count = pread(file, out + bytes_read, range.bytes - bytes_read, range.offset + bytes_read);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            error = count < 0 ? std::strerror(errno) : "the file became shorter while it was being read";
            break;
        }
        bytes_read += count;
    }
    close(file);
    return bytes_read == range.bytes;
}

}  // namespace

EncodedFiles::EncodedFiles(const py::tuple& entries, long long max_bytes, int threads) : files_(entries.size()) {
    std::vector<FileRange> ranges;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        PyObject* const entry = PyTuple_GET_ITEM(entries.ptr(), i);
        if (PyTuple_Check(entry)) {
            PyObject* path;
            FileRange range{i, nullptr, 0, 0};
            if (!PyArg_ParseTuple(entry, "SLL", &path, &range.offset, &range.bytes)) throw py::error_already_set();
            range.path = PyBytes_AS_STRING(path);
            ranges.push_back(range);
        } else if (PyUnicode_Check(entry)) {
            // Kept as a Python string: it may hold lone surrogates, which UTF-8 cannot encode.
            files_[i].entry_error = py::reinterpret_borrow<py::object>(entry);
        } else {
            Py_buffer& view = files_[i].buffer;
            if (PyObject_GetBuffer(entry, &view, PyBUF_SIMPLE) != 0) throw py::error_already_set();
            files_[i].data = static_cast<const unsigned char*>(view.buf);
            files_[i].bytes = static_cast<std::size_t>(view.len);
        }
    }
    if (ranges.empty()) return;
    const py::gil_scoped_release release;
    const auto for_each_range = [&](const auto& work) {
        ThreadPool::instance().run(static_cast<long long>(ranges.size()), threads,
                                   [&](long long i, void*) { work(ranges[i], files_[ranges[i].file]); });
    };
    for_each_range([&](FileRange& range, File& file) { range.bytes = measure(range, max_bytes, file.read_error); });
    std::size_t size = 0;
    for (const FileRange& range : ranges) size += std::max(range.bytes, 0LL);
    const auto block = take_block(size);
    unsigned char* out = block->data.get();
    for (const FileRange& range : ranges) {
        files_[range.file].data = out;
        out += std::max(range.bytes, 0LL);
    }
    for_each_range([](const FileRange& range, File& file) {
        if (range.bytes >= 0 && read(range, const_cast<unsigned char*>(file.data), file.read_error))
            file.bytes = static_cast<std::size_t>(range.bytes);
    });
    block_ = block;
}

std::size_t EncodedFiles::checked_index(long long i) const {
    if (i < 0 || i >= static_cast<long long>(size()))
        throw py::index_error("there are " + std::to_string(size()) + " files, and none at " + std::to_string(i));
    return static_cast<std::size_t>(i);
}

py::object EncodedFiles::get(long long i) const {
    const File& file = files_[checked_index(i)];
    if (file.entry_error) return file.entry_error;
    if (!file.read_error.empty()) return py::str(file.read_error);
    return py::bytes(reinterpret_cast<const char*>(file.data), file.bytes);
}

namespace {

// Calls `jpeg::choose_decode_region` for each image of a batch.
void choose_decode_regions(const py::buffer& boxes, const py::buffer& min_sizes, const py::buffer& images,
                           const py::buffer& scalable, const py::buffer& regions, const py::buffer& boxes_in_regions) {
    const NumpyRows<const jpeg::Box> box(boxes);
    const NumpyRows<const jpeg::Size> min_size(min_sizes), image(images);
    const NumpyRows<const bool> is_scalable(scalable);
    const NumpyRows<jpeg::DecodeRegion> region(regions, true);
    const NumpyRows<jpeg::Box> box_in_region(boxes_in_regions, true);
    for (const std::size_t rows :
         {min_size.size(), image.size(), is_scalable.size(), region.size(), box_in_region.size()})
        if (rows != box.size()) throw py::value_error("every image needs a row");
    for (std::size_t i = 0; i < box.size(); ++i)
        jpeg::choose_decode_region(box[i], min_size[i], image[i], is_scalable[i], region[i], box_in_region[i]);
}

}  // namespace

void bind_encoded_files(py::module_& module) {
    using namespace py::literals;
    py::class_<EncodedFiles, std::shared_ptr<EncodedFiles>>(module, "EncodedFiles")
        .def(py::init([](const py::object& entries, long long max_bytes, int threads) {
                 return std::make_shared<EncodedFiles>(py::tuple(entries), max_bytes, threads);
             }),
             "entries"_a, "max_bytes"_a = 0, "threads"_a = 1)
        .def("__len__", &EncodedFiles::size)
        .def("__getitem__", &EncodedFiles::get);
    module.def("choose_decode_regions", &choose_decode_regions, "boxes"_a, "min_sizes"_a, "images"_a, "scalable"_a,
               "regions"_a, "boxes_in_regions"_a);
}

}  // namespace native
