// Builds the table of a ragged batch from a list of torch tensors in one call: Python takes 2 us to describe a tensor.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings.hpp"

namespace py = pybind11;

namespace {

// DLTensor of DLPack.
struct TensorView {
    void* data;
    std::int32_t device_type, device;
    std::int32_t ndim;
    std::uint8_t dtype_code, dtype_bits;
    std::uint16_t dtype_lanes;
    const std::int64_t* shape;
    const std::int64_t* strides;
    std::uint64_t byte_offset;
};

// DLPackExchangeAPI of DLPack, version 1.
struct ExchangeApi {
    std::uint32_t major, minor;
    const void* previous;
    const void* unused[3];
    int (*view)(void* object, TensorView* tensor);  // dltensor_from_py_object_no_sync; valid while object lives
};

constexpr std::size_t ndim = 3;
// kDLUInt: such tensors have no gradients and are no lazily negated views, so `describe` does not ask for either.
constexpr std::uint8_t unsigned_code = 1;

// What a row depends on: device, dtype, address modulo 16, shape, strides.
using Kind = std::array<std::int64_t, 4 + 2 * ndim>;

struct HashKind {
    std::size_t operator()(const Kind& kind) const {
        std::uint64_t hash = 0;
        for (const std::int64_t value : kind) {
            hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9E3779B97F4A7C15u;
            hash ^= hash >> 32;
        }
        return hash;
    }
};

struct Row {
    std::string bytes;
    py::object group;  // tensors form a batch if their groups are one object; None: tensors of this kind form no batch
    std::pair<std::int64_t, std::int64_t> size;  // (height, width)
};

class TensorRows {
public:
    TensorRows(py::object tensor_type, py::capsule exchange_api, std::size_t max_rows)
        : tensor_type_(std::move(tensor_type)), capsule_(std::move(exchange_api)), max_rows_(max_rows) {
        api_ = static_cast<const ExchangeApi*>(PyCapsule_GetPointer(capsule_.ptr(), "dlpack_exchange_api"));
        if (api_ == nullptr) throw py::error_already_set();
        if (api_->major != 1 || api_->view == nullptr)
            throw py::value_error(
                "the exchange API of DLPack must be of version 1, with a function that views tensors");
    }

    // The table and the group of the tensors. None if they have one size, if they form no batch, or if only Python can
    // describe one of them. Python code runs in `new_row`: the list may change meanwhile.
    py::object table(const py::list& tensors, const py::object& new_row) {
        std::string table;
        std::shared_ptr<const Row> first;
        bool sizes_differ = false;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
            const py::object tensor = tensors[i];
            Kind kind{};
            std::uint64_t address = 0;
            if (!describe(tensor, kind, address)) return py::none();
            std::shared_ptr<const Row> row = find(kind);
            if (row == nullptr) row = add(kind, new_row(tensor));
            if (row->group.is_none()) return py::none();
            if (first == nullptr) first = row;
            if (!row->group.is(first->group)) return py::none();
            if (row->bytes.size() != first->bytes.size()) throw py::value_error("rows of one group have one length");
            sizes_differ |= row->size != first->size;
            table.append(row->bytes);
            std::memcpy(&table[table.size() - row->bytes.size()], &address, sizeof(address));
        }
        if (!sizes_differ) return py::none();
        return py::make_tuple(py::bytearray(table.data(), table.size()), first->group);
    }

private:
    // False for tensors that only Python can describe.
    bool describe(const py::object& tensor, Kind& kind, std::uint64_t& address) const {
        if (reinterpret_cast<PyObject*>(Py_TYPE(tensor.ptr())) != tensor_type_.ptr()) return false;
        TensorView view{};
        if (api_->view(tensor.ptr(), &view) != 0) {  // for example sparse tensors
            PyErr_Clear();
            return false;
        }
        if (view.data == nullptr || view.ndim != ndim || view.strides == nullptr) return false;
        if (view.dtype_code != unsigned_code && (requires_grad(tensor) || is_negated_view(tensor))) return false;
        address = reinterpret_cast<std::uintptr_t>(view.data) + view.byte_offset;
        const std::int64_t dtype = view.dtype_code << 24 | view.dtype_bits << 16 | view.dtype_lanes;
        kind = {view.device_type, view.device, dtype, static_cast<std::int64_t>(address % 16)};
        for (std::size_t axis = 0; axis < ndim; ++axis) {
            kind[4 + axis] = view.shape[axis];
            kind[4 + ndim + axis] = view.strides[axis];
        }
        return true;
    }

    bool requires_grad(const py::object& tensor) const {
        return owned(PyObject_GetAttr(tensor.ptr(), requires_grad_name_.ptr())).ptr() != Py_False;
    }

    bool is_negated_view(const py::object& tensor) const {
        return owned(PyObject_CallMethodNoArgs(tensor.ptr(), is_neg_name_.ptr())).ptr() != Py_False;
    }

    static py::object owned(PyObject* object) {
        if (object == nullptr) throw py::error_already_set();
        return py::reinterpret_steal<py::object>(object);
    }

    std::shared_ptr<const Row> find(const Kind& kind) const {
        const std::lock_guard lock(mutex_);
        const auto entry = rows_.find(kind);
        return entry == rows_.end() ? nullptr : entry->second;
    }

    std::shared_ptr<const Row> add(const Kind& kind, const py::object& new_row) {
        Row row = {{}, py::none(), {}};
        if (!new_row.is_none()) {
            auto [bytes, group, size] =
                new_row.cast<std::tuple<py::bytes, py::object, std::pair<std::int64_t, std::int64_t>>>();
            row = {std::string(std::string_view(bytes)), std::move(group), size};
            if (row.bytes.size() < sizeof(std::uint64_t)) throw py::value_error("a row begins with an address");
        }
        auto shared = std::make_shared<const Row>(std::move(row));
        std::unordered_map<Kind, std::shared_ptr<const Row>, HashKind>
            evicted;  // freed after the lock: runs Python code
        const std::lock_guard lock(mutex_);
        if (rows_.size() >= max_rows_) evicted.swap(rows_);
        rows_.emplace(kind, shared);
        return shared;
    }

    const py::object tensor_type_;
    const py::capsule capsule_;
    const ExchangeApi* api_ = nullptr;
    const std::size_t max_rows_;
    const py::object requires_grad_name_ = owned(PyUnicode_InternFromString("requires_grad"));
    const py::object is_neg_name_ = owned(PyUnicode_InternFromString("is_neg"));
    mutable std::mutex mutex_{};  // Python without a GIL may call from several threads
    std::unordered_map<Kind, std::shared_ptr<const Row>, HashKind> rows_{};
};

}  // namespace

void native::bind_tensor_rows(py::module_& module) {
    using namespace py::literals;
    py::class_<TensorRows>(
        module, "TensorRows",
        "Caches rows of ragged batches' tables by a tensor's device, dtype, alignment, shape and strides.")
        .def(py::init<py::object, py::capsule, std::size_t>(), "tensor_type"_a, "exchange_api"_a, "max_rows"_a)
        .def("table", &TensorRows::table, "tensors"_a, "new_row"_a);
}
