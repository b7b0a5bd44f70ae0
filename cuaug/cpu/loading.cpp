// What a loader does for many files at once, without the GIL.

#include <string>
#include <tuple>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "files.hpp"
#include "loading.hpp"
#include "pool.hpp"

namespace py = pybind11;
using namespace native;

namespace {

// Bytes for each piece, or why it cannot be read.
py::list read_files(const std::vector<std::tuple<std::string, long long, long long>>& files, long long most, int threads) {
    const long long count = static_cast<long long>(files.size());
    std::vector<Piece> pieces;
    for (const auto& [path, offset, bytes] : files) pieces.push_back({path, offset, bytes});
    std::vector<long long> bytes(count);
    std::vector<std::string> reasons(count);
    std::vector<char*> memory(count);
    {
        const py::gil_scoped_release release;
        Pool::instance().run(count, threads, [&](long long i, void*) { bytes[i] = piece_bytes(pieces[i], most, reasons[i]); });
    }
    py::list out(count);
    for (long long i = 0; i < count; ++i) {
        if (bytes[i] < 0) continue;
        py::bytes own = py::reinterpret_steal<py::bytes>(PyBytes_FromStringAndSize(nullptr, bytes[i]));
        if (!own) throw py::error_already_set();
        memory[i] = PyBytes_AS_STRING(own.ptr());
        out[i] = std::move(own);
    }
    {
        const py::gil_scoped_release release;
        Pool::instance().run(count, threads, [&](long long i, void*) {
            if (bytes[i] >= 0) read_piece(pieces[i], bytes[i], memory[i], reasons[i]);
        });
    }
    for (long long i = 0; i < count; ++i)
        if (!reasons[i].empty()) out[i] = py::str(reasons[i]);
    return out;
}

}  // namespace

void bind_loading(py::module_& module) {
    using namespace py::literals;
    module.def("read_files", &read_files, "files"_a, "most"_a, "threads"_a, "Files, or pieces of them: (path, offset, bytes or -1). Bytes, or why there are none.");
}
