#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

namespace native {

// Encoded images in memory: buffers of Python objects, which are held, and files, which are read by several threads
// without the GIL.
class EncodedFiles {
public:
    // Each entry is a buffer; or (path, offset, bytes), a range of a file, whose bytes are -1 for the rest of the file
    // and at most `max_bytes` unless that is 0; or a string, an error that explains why there is no image.
    EncodedFiles(const pybind11::tuple& entries, long long max_bytes, int threads);
    EncodedFiles(const EncodedFiles&) = delete;

    std::size_t size() const { return files_.size(); }
    const unsigned char* data(std::size_t i) const { return files_[i].data; }
    std::size_t bytes(std::size_t i) const { return files_[i].bytes; }
    // `i`, unless out of range.
    std::size_t checked(long long i) const;
    // The bytes, or a string, the error.
    pybind11::object get(long long i) const;

private:
    struct File {
        const unsigned char* data = nullptr;
        std::size_t bytes = 0;
        std::string read_error{};
        pybind11::object given_error{};
        Py_buffer held{};

        ~File() { PyBuffer_Release(&held); }
    };

    std::shared_ptr<void> block_{};  // the memory that files were read to
    std::vector<File> files_;
};

}  // namespace native
