#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <pybind11/pybind11.h>

namespace native {

// The rows of a contiguous NumPy array as structs; a one-dimensional array has rows of one element. Keeps the array
// alive.
template <class Row>
class NumpyRows {
public:
    explicit NumpyRows(const pybind11::buffer& array, bool writable = false) : view_(array.request(writable)) {
        const bool contiguous = view_.ndim == 1 ? view_.strides[0] == view_.itemsize
                                                : view_.ndim == 2 && view_.strides[1] == view_.itemsize &&
                                                      view_.strides[0] == view_.shape[1] * view_.itemsize;
        if (view_.size > 0 && (!contiguous || view_.size / view_.shape[0] * view_.itemsize != sizeof(Row)))
            throw pybind11::value_error("a table must be contiguous and have rows of " + std::to_string(sizeof(Row)) +
                                        " bytes");
    }

    std::size_t size() const { return view_.size > 0 ? static_cast<std::size_t>(view_.shape[0]) : 0; }
    Row& operator[](std::size_t i) const { return static_cast<Row*>(view_.ptr)[i]; }

private:
    pybind11::buffer_info view_;
};

// A request to decode a region of a file at 1 / `scale` of its resolution: the index of the file, the region in pixels
// of the scaled image, the address that the first row is written to, and the bytes from row to row.
struct RegionToDecode {
    std::int64_t file, scale, top, left, height, width, address, pitch;
};

// A request to decode a whole file with nvJPEG; `address` and `pitch` as in RegionToDecode, in GPU memory.
struct NvjpegImage {
    std::int64_t file, address, pitch;
};

}  // namespace native
