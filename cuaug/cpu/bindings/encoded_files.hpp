#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

namespace native {

// Encoded images: bytes of Python's, which are held, or of files, which are read, several at a time and without the
// lock.
class Files {
public:
    // Each entry: bytes; or a file, or a piece of one, (path, offset, bytes or -1), of at most so many bytes; or a
    // string, why there is nothing.
    Files(const pybind11::tuple& entries, long long most, int threads);
    Files(const Files&) = delete;

    std::size_t size() const { return files_.size(); }
    const unsigned char* data(std::size_t i) const { return files_[i].data; }
    std::size_t bytes(std::size_t i) const { return files_[i].bytes; }
    // A place that there is.
    std::size_t checked(long long i) const;
    // Bytes, or why there are none.
    pybind11::object get(long long i) const;

private:
    struct File {
        const unsigned char* data = nullptr;
        std::size_t bytes = 0;
        std::string reason{};
        Py_buffer held{};
        pybind11::object said{};

        ~File() { PyBuffer_Release(&held); }
    };

    std::shared_ptr<void> read_{};  // what has been, for all
    std::vector<File> files_;
};

}  // namespace native
