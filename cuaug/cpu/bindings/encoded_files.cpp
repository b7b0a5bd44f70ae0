// What a loader does for many files at once, without the GIL.

#include "bindings.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../jpeg/decode_region.hpp"
#include "encoded_files.hpp"
#include "../thread_pool.hpp"
#include "numpy_rows.hpp"

namespace py = pybind11;

namespace native {
namespace {

struct Piece {
    std::size_t file;
    const char* path;
    long long offset, bytes;  // bytes < 0: to the end
};

struct Block {
    std::size_t size;
    std::unique_ptr<unsigned char[]> bytes;
};

// Memory to read to, the same again and again: to have pages of it made and taken away takes longer than all else.
// Without a lock, which a fork might find held.
std::atomic<Block*> spare[2];
constexpr std::size_t most_spare = 64 << 20;

std::shared_ptr<Block> block_of(std::size_t size) {
    const auto give = [](Block* block) {
        for (std::atomic<Block*>& place : spare)
            if (Block* none = nullptr; block->size <= most_spare && place.compare_exchange_strong(none, block)) return;
        delete block;
    };
    for (std::atomic<Block*>& place : spare) {
        std::unique_ptr<Block> found(place.exchange(nullptr));
        if (found && found->size >= size) return {found.release(), give};
    }
    const std::size_t room = size + size / 4;  // for the next one too
    return {new Block{room, std::unique_ptr<unsigned char[]>(new unsigned char[room])}, give};
}

// How many bytes there are to read; -1, and why, where they cannot be.
long long bytes_of(const Piece& piece, long long most, std::string& reason) {
    struct stat found;
    if (stat(piece.path, &found) != 0) return reason = std::strerror(errno), -1;
    if (!S_ISREG(found.st_mode)) return reason = "not a file", -1;
    const long long rest = found.st_size - piece.offset, bytes = piece.bytes < 0 ? rest : piece.bytes;
    if (piece.offset < 0 || bytes > rest || rest < 0) return reason = "the file is shorter than it was", -1;
    if (most > 0 && bytes > most)
        return reason = std::to_string(bytes) + " bytes, more than the limit of " + std::to_string(most), -1;
    return bytes;
}

// Reads all of a piece whose bytes have been counted; false, and why, where it cannot be read.
bool read(const Piece& piece, unsigned char* to, std::string& reason) {
    const int file = open(piece.path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return reason = std::strerror(errno), false;
    long long done = 0;
    while (done < piece.bytes) {
        const ssize_t count = pread(file, to + done, piece.bytes - done, piece.offset + done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            reason = count < 0 ? std::strerror(errno) : "the file is shorter than it was";
            break;
        }
        done += count;
    }
    close(file);
    return done == piece.bytes;
}

}  // namespace

Files::Files(const py::tuple& entries, long long most, int threads) : files_(entries.size()) {
    std::vector<Piece> pieces;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        PyObject* const entry = PyTuple_GET_ITEM(entries.ptr(), i);
        if (PyTuple_Check(entry)) {
            PyObject* path;
            Piece piece{i, nullptr, 0, 0};
            if (!PyArg_ParseTuple(entry, "SLL", &path, &piece.offset, &piece.bytes)) throw py::error_already_set();
            piece.path = PyBytes_AS_STRING(path);
            pieces.push_back(piece);
        } else if (PyUnicode_Check(entry)) {
            files_[i].said = py::reinterpret_borrow<py::object>(entry);  // names in it may be no text
        } else {
            Py_buffer& view = files_[i].held;
            if (PyObject_GetBuffer(entry, &view, PyBUF_SIMPLE) != 0) throw py::error_already_set();
            files_[i].data = static_cast<const unsigned char*>(view.buf);
            files_[i].bytes = static_cast<std::size_t>(view.len);
        }
    }
    if (pieces.empty()) return;
    const py::gil_scoped_release release;
    const auto each = [&](const auto& work) {
        ThreadPool::instance().run(static_cast<long long>(pieces.size()), threads,
                             [&](long long i, void*) { work(pieces[i], files_[pieces[i].file]); });
    };
    each([&](Piece& piece, File& file) { piece.bytes = bytes_of(piece, most, file.reason); });
    std::size_t size = 0;
    for (const Piece& piece : pieces) size += std::max(piece.bytes, 0LL);
    const auto block = block_of(size);
    unsigned char* to = block->bytes.get();
    for (const Piece& piece : pieces) {
        files_[piece.file].data = to;
        to += std::max(piece.bytes, 0LL);
    }
    each([](const Piece& piece, File& file) {
        if (piece.bytes >= 0 && read(piece, const_cast<unsigned char*>(file.data), file.reason))
            file.bytes = static_cast<std::size_t>(piece.bytes);
    });
    read_ = block;
}

std::size_t Files::checked(long long i) const {
    if (i < 0 || i >= static_cast<long long>(size()))
        throw py::index_error("there are " + std::to_string(size()) + " files, and none at " + std::to_string(i));
    return static_cast<std::size_t>(i);
}

py::object Files::get(long long i) const {
    const File& file = files_[checked(i)];
    if (file.said) return file.said;
    if (!file.reason.empty()) return py::str(file.reason);
    return py::bytes(reinterpret_cast<const char*>(file.data), file.bytes);
}

namespace {

// `cover` for each image of a batch: boxes, what they become, images, which may be scaled; regions and boxes within
// them are written.
void cover_each(const py::buffer& boxes, const py::buffer& wanted, const py::buffer& images, const py::buffer& scalable,
                const py::buffer& regions, const py::buffer& within) {
    const Table<const Box> box(boxes);
    const Table<const Size> size(wanted), image(images);
    const Table<const bool> may(scalable);
    const Table<Region> region(regions, true);
    const Table<Box> part(within, true);
    for (const std::size_t rows : {size.size(), image.size(), may.size(), region.size(), part.size()})
        if (rows != box.size()) throw py::value_error("every image needs a row");
    for (std::size_t i = 0; i < box.size(); ++i) cover(box[i], size[i], image[i], may[i], region[i], part[i]);
}

}  // namespace

}  // namespace native

void native::bind_encoded_files(py::module_& module) {
    using namespace py::literals;
    using native::Files;
    py::class_<Files, std::shared_ptr<Files>>(module, "Files")
        .def(py::init([](const py::object& entries, long long most, int threads) {
                 return std::make_shared<Files>(py::tuple(entries), most, threads);
             }),
             "entries"_a, "most"_a = 0, "threads"_a = 1)
        .def("__len__", &Files::size)
        .def("__getitem__", &Files::get);
    module.def("cover", &native::cover_each, "boxes"_a, "wanted"_a, "images"_a, "scalable"_a, "regions"_a, "within"_a);
}
