"""A fake CUDA driver that records launches, and the memory that recorded launches use."""

import ctypes
from typing import Any, NamedTuple

import pytest

from cuaug._fusion import batched_launch
from cuaug._gpu import launch as _launch
from cuaug._program import records as _records

torch = pytest.importorskip("torch")
TOGETHER = ", cuaug::BatchedLaunch>"
PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)  # of cuLaunchKernelEx


class Launched(NamedTuple):
    """One launch, as the driver received it."""

    kernel: str
    config: tuple  # grid, block, shared, stream, attributes
    record: bytes


class Kernel(NamedTuple):
    """A compiled kernel, as `launch.launch_arguments` reads it."""

    handles: dict
    uses_pdl: bool


class Driver:
    """Records launches in place of making them."""

    def __init__(self):
        self.launched, self.names, self.statuses = [], [], {}
        self.cuLaunchKernelEx = PROTOTYPE(self.launch)

    def kernel(self, name, stream):
        self.names.append(name)
        return Kernel({0: len(self.names)}, self.uses_pdl(name))

    @staticmethod
    def uses_pdl(name):
        return "warp" in name or "pointwise" in name

    def launch(self, config, handle, arguments, extra):
        *numbers, attributes, count = struct_of(config)
        name = self.names[handle - 1]
        record = ctypes.c_void_p.from_address(arguments).value
        of_one = ctypes.string_at(attributes, 72) if count else b""
        assert extra is None
        size = _records.record_of(name).size * (batched_launch.MAX_BATCHED if name.endswith(TOGETHER) else 1)
        self.launched.append(Launched(name, (*numbers, of_one), ctypes.string_at(record, size)))
        return self.statuses.get(len(self.launched), 0)


def struct_of(config):
    return _launch._CONFIG.unpack(ctypes.string_at(config, _launch._CONFIG.size))


class Named:
    def __init__(self, **attributes):
        vars(self).update(attributes)


def refuse(status):
    raise ValueError(f"CUDA_ERROR {status}")


class Seen(NamedTuple):
    """A call's result, its launches, and the memory that it allocated."""

    made: Any
    launched: list
    given: list


def seen(gpu, call):
    gpu.launched.clear()
    gpu.given.clear()
    return Seen(call(), list(gpu.launched), list(gpu.given))


def bytes_of(array):
    return array.numel() * array.element_size()
