"""Tables of lists of arrays: the extension's `TensorRows` and Python's `KeyedRows` give the same tables.

A table has the address of every tensor, other tensors than plain ones are left to the general path, and wrong
arguments and callbacks end in an exception.
"""

import ctypes
import random
import sys
import threading
import weakref

import numpy as np
import pytest
import torch

from cuaug import _native as native
from cuaug._arrays import row_tables
from cuaug._arrays.row_tables import ArrayRow, KeyedRows, array_rows
from cuaug._arrays.torch_library import torch_library

EXCHANGE_API = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
needs_exchange_api = pytest.mark.skipif(EXCHANGE_API is None, reason="torch has DLPack's exchange API from 2.10 on")


class Group:
    pass


GROUP = Group()


class NewRow:
    """Makes rows that hold shape, strides, dtype, device and alignment of the tensor, and records the calls."""

    def __init__(self, group=GROUP):
        self.calls, self.group = [], group

    def __call__(self, tensor):
        self.calls.append(tensor)
        return ArrayRow(row_bytes(tensor), self.group, tuple(tensor.shape[1:]))


def row_bytes(tensor, address=0):
    dtype, device = sum(map(ord, str(tensor.dtype))), tensor.get_device()
    alignment = tensor.data_ptr() % 16
    return np.array([address, *tensor.shape, *tensor.stride(), dtype, device, alignment], np.int64).tobytes()


def expected_table(tensors):
    return b"".join([row_bytes(tensor, tensor.data_ptr()) for tensor in tensors])


def tensor_rows(max_rows=1 << 14):
    return native.TensorRows(torch.Tensor, EXCHANGE_API, max_rows)


@pytest.fixture(params=[pytest.param("extension", marks=needs_exchange_api), "python"])
def rows(request):
    return tensor_rows() if request.param == "extension" else KeyedRows(torch_library(), torch.Tensor)


def images(*widths, dtype=torch.uint8):
    return [torch.zeros(3, 4, width, dtype=dtype) for width in widths]


def kinds_of_images():
    """Images that differ in shape, dtype, strides or alignment."""
    memory = torch.zeros(4096, dtype=torch.uint8)
    views = [memory[offset : offset + 96].view(3, 4, 8) for offset in (0, 1, 5, 16)]
    strided = [torch.zeros(6, 8, 10)[::2, ::2, 1::3], torch.zeros(9, 5, 3).permute(2, 0, 1), torch.zeros(3, 1, 1)]
    dtypes = [torch.zeros(3, 5, 7, dtype=dtype) for dtype in (torch.uint8, torch.int16, torch.float16, torch.bfloat16)]
    strides = [torch.zeros(3, 8, 8), torch.zeros(3, 8, 8).mT, torch.zeros(8, 8, 3).permute(2, 0, 1)]
    return [*views, *strided, *dtypes, *strides, torch.zeros(1, 4, 8, dtype=torch.float64).expand(3, 4, 8)]


def test_tables_have_a_row_for_each_kind_and_every_address(rows):
    tensors, new_row = kinds_of_images(), NewRow()
    table, group = rows.table(tensors, new_row)
    assert type(table) is bytearray
    assert bytes(table) == expected_table(tensors)
    assert group is GROUP
    assert len(new_row.calls) == len(tensors) - 1  # two have one kind: offsets of 0 and 16 bytes have one alignment
    others = [*kinds_of_images(), *tensors[::-1], tensors[2]]  # a tensor twice
    table, _ = rows.table(others, unused_new_row if same_alignment(tensors, others) else new_row)
    assert bytes(table) == expected_table(others)


def same_alignment(tensors, others):
    return {tensor.data_ptr() % 16 for tensor in others} <= {tensor.data_ptr() % 16 for tensor in tensors}


def unused_new_row(tensor):
    raise AssertionError(f"the row of {tensor.shape} is known")


CHANGES = {
    "resize": lambda tensor: tensor.resize_(3, 4, 9),
    "transpose": lambda tensor: tensor.transpose_(0, 1),
    "set": lambda tensor: tensor.set_(torch.ones(4, 3, 8, dtype=torch.uint8)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_tables_follow_a_tensor_that_changes(rows, name):
    tensors = images(5, 6)
    rows.table(tensors, NewRow())
    CHANGES[name](tensors[0])
    table, _ = rows.table(tensors, NewRow())
    assert bytes(table) == expected_table(tensors)


@pytest.mark.parametrize("widths", [(), (5,), (5, 5, 5)])
def test_tables_need_several_sizes(rows, widths):
    assert rows.table(images(*widths), NewRow()) is None


def test_tables_need_one_group(rows):
    first, second = images(5, 6)
    assert rows.table([first, first], NewRow(Group())) is None
    assert rows.table([first, second], NewRow(Group())) is None
    assert rows.table([first, torch.zeros(3, 4, 7)], lambda _: None) is None
    assert rows.table([torch.zeros(3, 4, 7), first], unused_new_row) is None


class Subclass(torch.Tensor):
    pass


def freed():
    tensor = torch.zeros(3, 4, 8)
    tensor.untyped_storage().resize_(0)
    return tensor


OTHER_OBJECTS = {
    "subclass": lambda: torch.zeros(3, 4, 8).as_subclass(Subclass),
    "parameter": lambda: torch.nn.Parameter(torch.zeros(3, 4, 8), requires_grad=False),
    "requires grad": lambda: torch.zeros(3, 4, 8, requires_grad=True),
    "part of a graph": lambda: torch.zeros(3, 4, 8, requires_grad=True) * 2,
    "negated view": lambda: torch.zeros(3, 4, 8, dtype=torch.complex64).conj().imag,
    "freed storage": freed,
    "empty": lambda: torch.zeros(3, 0, 8),
    "meta": lambda: torch.zeros(3, 4, 8, device="meta"),
    "sparse": lambda: torch.zeros(3, 4, 8).to_sparse(),
    "array": lambda: np.zeros((3, 4, 8)),
    "None": lambda: None,
}


@pytest.mark.parametrize("name", OTHER_OBJECTS)
@pytest.mark.parametrize("position", [0, 1, 2])
def test_tables_leave_other_objects_to_general_path(rows, name, position):
    tensors = images(5, 6)
    tensors.insert(position, OTHER_OBJECTS[name]())
    new_row = NewRow()
    assert rows.table(tensors, new_row) is None
    assert len(new_row.calls) == position
    assert sys.exc_info() == (None, None, None)


@needs_exchange_api
@pytest.mark.parametrize("shape", [(), (4,), (4, 8), (1, 3, 4, 8), (1,) * 60])
def test_tensor_rows_are_of_single_images(shape):
    assert tensor_rows().table([*images(5), torch.zeros(shape), *images(6)], NewRow()) is None


@needs_exchange_api
@pytest.mark.parametrize("max_rows", [0, 1, 4])
def test_tensor_rows_limit_does_not_limit_lists(max_rows):
    rows, tensors = tensor_rows(max_rows), images(*range(2, 30), *range(2, 30))
    for _ in range(3):
        assert bytes(rows.table(tensors, NewRow())[0]) == expected_table(tensors)


def test_keyed_rows_limit_does_not_limit_lists(monkeypatch):
    monkeypatch.setattr(row_tables, "_MAX_ROWS", 4)
    rows, tensors = KeyedRows(torch_library(), torch.Tensor), images(*range(2, 30), *range(2, 30))
    assert bytes(rows.table(tensors, NewRow())[0]) == expected_table(tensors)
    assert len(rows._rows) <= 4


@needs_exchange_api
def test_tensor_rows_release_evicted_groups():
    rows, groups = tensor_rows(2), [Group() for _ in range(5)]
    for i, group in enumerate(groups):
        rows.table(images(*range(10 * i + 1, 10 * i + 4)), NewRow(group))
    references = [weakref.ref(group) for group in groups]
    del groups, group
    assert [reference() is not None for reference in references] == [False] * 4 + [True]
    del rows
    assert references[-1]() is None


def test_tables_pass_on_errors_of_new_row(rows):
    def refuse(tensor):
        raise LookupError("no row")

    with pytest.raises(LookupError, match="no row") as error:
        rows.table(images(5, 6), refuse)
    assert error.value.__context__ is None
    assert rows.table(images(5, 6), NewRow()) is not None


@needs_exchange_api
@pytest.mark.parametrize(
    "row", [3, (b"12345678", GROUP), (b"1234567", GROUP, (1, 2)), ("12345678", GROUP, (1, 2)), (b"12345678", GROUP, 5)]
)
def test_tensor_rows_refuse_wrong_rows(row):
    with pytest.raises((RuntimeError, ValueError)):
        tensor_rows().table(images(5, 6), lambda _: row)


@needs_exchange_api
def test_tensor_rows_refuse_rows_of_several_lengths():
    with pytest.raises(ValueError, match="one length"):
        tensor_rows().table(images(5, 6), lambda tensor: (b"x" * 8 * tensor.shape[2], GROUP, (4, tensor.shape[2])))


@needs_exchange_api
@pytest.mark.parametrize("change", [list.clear, lambda tensors: tensors.extend(images(9))], ids=["shorter", "longer"])
def test_tensor_rows_accept_list_that_changes_in_new_row(change):
    tensors, new_row = images(5, 6, 7), NewRow()

    def changing(tensor):
        if not new_row.calls:
            change(tensors)
        return new_row(tensor)

    result = tensor_rows().table(tensors, changing)
    assert result is None if not tensors else bytes(result[0]) == expected_table(tensors)


def api_capsule(major, name=b"dlpack_exchange_api", pointers=5):
    new_capsule = ctypes.pythonapi.PyCapsule_New
    new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    api = np.zeros(2 + pointers, np.uint64)
    api[0] = major
    capsule = new_capsule(api.ctypes.data, name, None)
    return capsule, api, name


@pytest.mark.parametrize("major", [1, 2])  # without functions; another version
def test_tensor_rows_refuse_other_exchange_apis(major, monkeypatch):
    capsule, *memory = api_capsule(major)
    with pytest.raises(ValueError, match="exchange API"):
        native.TensorRows(torch.Tensor, capsule, 1)
    monkeypatch.setattr(torch_library(), "exchange_api", capsule)
    assert isinstance(array_rows(torch_library(), torch.Tensor), KeyedRows)
    assert memory


def test_tensor_rows_refuse_other_arguments():
    capsule, *memory = api_capsule(1, b"dltensor")
    with pytest.raises(ValueError, match="incorrect name"):
        native.TensorRows(torch.Tensor, capsule, 1)
    with pytest.raises(TypeError):
        native.TensorRows(torch.Tensor, 7, 1)
    with pytest.raises(TypeError):
        native.TensorRows(torch.Tensor, None, 1)
    assert memory


@needs_exchange_api
def test_array_rows_choose_the_extension_for_torch(monkeypatch):
    assert isinstance(array_rows(torch_library(), torch.Tensor), native.TensorRows)
    monkeypatch.setattr(torch_library(), "exchange_api", None)
    assert isinstance(array_rows(torch_library(), torch.Tensor), KeyedRows)


@needs_exchange_api
def test_tensor_rows_in_threads():
    rows, failures = tensor_rows(6), []

    def work(seed):
        numbers = random.Random(seed)
        for _ in range(200):
            tensors = images(*[numbers.randrange(2, 20) for _ in range(6)])
            result = rows.table(tensors, NewRow())
            if len({tensor.shape for tensor in tensors}) > 1 and bytes(result[0]) != expected_table(tensors):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
