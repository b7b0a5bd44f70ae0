"""A fake CUDA driver that records launches. `record_call` returns the launches and allocations of one call."""

import ctypes
from typing import Any, NamedTuple

from cuaug._gpu import launch as launch_module
from cuaug._passes import batched_launch
from cuaug._program import records

BATCHED = ", cuaug::BatchedLaunch>"
PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)  # of cuLaunchKernelEx
ATTRIBUTE_BYTES = 72  # of a CUlaunchAttribute


class FakeLaunch(NamedTuple):
    """One launch, as the driver received it."""

    kernel: str
    config: tuple  # grid, block, shared, stream, attributes
    record: bytes


class FakeKernel(NamedTuple):
    """A compiled kernel, as `launch.launch_arguments` reads it."""

    handles: dict
    uses_pdl: bool


class FakeDriver:
    """Records launches in place of making them."""

    def __init__(self):
        self.launches, self.names = [], []
        self.allocations = []  # what tests/internals/conftest.py allocates instead of device memory
        self.statuses = {}  # the status of the n-th launch, n from 1; default: 0
        self.cuLaunchKernelEx = PROTOTYPE(self.launch)

    def kernel(self, name, stream):
        self.names.append(name)
        return FakeKernel({0: len(self.names)}, self.uses_pdl(name))

    @staticmethod
    def uses_pdl(name):
        return "warp" in name or "pointwise" in name

    def launch(self, config, handle, arguments, extra):
        *numbers, attributes, count = unpack_config(config)
        name = self.names[handle - 1]
        record = ctypes.c_void_p.from_address(arguments).value
        attribute = ctypes.string_at(attributes, ATTRIBUTE_BYTES) if count else b""
        assert extra is None
        size = records.record_of(name).size * (batched_launch.MAX_BATCHED if name.endswith(BATCHED) else 1)
        self.launches.append(FakeLaunch(name, (*numbers, attribute), ctypes.string_at(record, size)))
        return self.statuses.get(len(self.launches), 0)


def unpack_config(config):
    return launch_module._CONFIG.unpack(ctypes.string_at(config, launch_module._CONFIG.size))


def raise_status(status):
    raise ValueError(f"CUDA_ERROR {status}")


class RecordedCall(NamedTuple):
    """A call's result, its launches, and the memory that it allocated."""

    result: Any
    launches: list
    allocations: list


def record_call(gpu, call):
    gpu.launches.clear()
    gpu.allocations.clear()
    return RecordedCall(call(), list(gpu.launches), list(gpu.allocations))


def bytes_of(array):
    return array.numel() * array.element_size()


def inside(address, array):
    """Whether an address lies in an array's memory."""
    return 0 <= address - array.data_ptr() < bytes_of(array)
