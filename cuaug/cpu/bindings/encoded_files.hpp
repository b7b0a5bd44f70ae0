#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

namespace native {

// Encoded images in memory: buffers of Python objects, which this object keeps alive, and files, which several threads
// read without the GIL.
class EncodedFiles {
public:
    // Each entry is one of: a buffer; (path, offset, bytes), a range of a file; a string, the reason why there is no
    // image. `bytes` is -1 for the rest of the file. A range of more than `max_bytes` is not read; 0: no limit.
    EncodedFiles(const pybind11::tuple& entries, long long max_bytes, int threads);
    EncodedFiles(const EncodedFiles&) = delete;

    std::size_t size() const { return files_.size(); }
    const unsigned char* data(std::size_t i) const { return files_[i].data; }
    std::size_t bytes(std::size_t i) const { return files_[i].bytes; }
    // Returns `i`; throws IndexError if there is no such file.
    std::size_t checked_index(long long i) const;
    // The bytes of a file, or a string: the reason why it has none.
    pybind11::object get(long long i) const;

private:
    struct File {
        const unsigned char* data = nullptr;
        std::size_t bytes = 0;
        std::string read_error{};        // why the range was not read
        pybind11::object entry_error{};  // the entry, if it is a string
        Py_buffer buffer{};

        ~File() { PyBuffer_Release(&buffer); }
    };

    std::shared_ptr<void> block_{};  // the memory that files were read into
    std::vector<File> files_;
};

}  // namespace native
