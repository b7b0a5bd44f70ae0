#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

namespace native {

// The encoded images of a batch, in memory. They come from buffers of Python objects, which this object keeps alive,
// and from files, which the constructor reads with several threads, without the GIL.
class EncodedFiles {
public:
    // Each entry is one of: a buffer; (path, offset, bytes), a range of a file; a string, the reason why there is no
    // image. `bytes` is -1 for the rest of the file. A range of more than `max_bytes` bytes is not read; 0: no limit.
    EncodedFiles(const pybind11::tuple& entries, long long max_bytes, int threads);
    EncodedFiles(const EncodedFiles&) = delete;

    std::size_t size() const { return files_.size(); }
    const unsigned char* data(std::size_t i) const { return files_[i].data; }
    std::size_t bytes(std::size_t i) const { return files_[i].bytes; }
    // Returns `i`; throws IndexError if there is no such file.
    std::size_t checked_index(long long i) const;
    // The bytes of an image, or a string: the reason why there is no image.
    pybind11::object get(long long i) const;

private:
    struct File {
        const unsigned char* data = nullptr;
        std::size_t bytes = 0;
        std::string read_error{};        // the reason why the range was not read; empty: none
        pybind11::object entry_error{};  // the entry, if it is a string
        Py_buffer buffer{};

        ~File() { PyBuffer_Release(&buffer); }
    };

    std::shared_ptr<void> block_{};  // the memory that files were read into
    std::vector<File> files_;
};

}  // namespace native
