"""Launches one kernel through cuLaunchKernelEx of the CUDA driver."""

from __future__ import annotations

import ctypes
import functools
import struct

from .cupy_import import cupy
from .devices import is_current, use_device
from .driver import check_status, driver
from .kernels import compiled_kernels, kernel

_CONFIG = struct.Struct("7I4xQQI4x")  # CUlaunchConfig of cuda.h
# The CUlaunchAttribute for programmatic dependent launch: the kernel's set-up overlaps the previous kernel.
_PDL_ATTRIBUTE = ctypes.create_string_buffer(struct.pack("I4xI60x", 6, 1))


def launch(
    name: str, record: bytes, grid: tuple[int, int, int], threads: int, shared: int, device: int, stream: int
) -> None:
    """Launches a kernel with `record` as its only argument. `shared`: bytes of dynamic shared memory.

    cuLaunchKernelEx costs half of CuPy's call of a kernel (benchmarks/log/host-cost.md).
    """
    if not is_current(device):
        with use_device(device):
            launch(name, record, grid, threads, shared, device, stream)
        return
    handle, config = launch_arguments(name, grid, threads, shared, device, stream)
    argument = ctypes.c_char_p(record)  # the driver takes an array of pointers to arguments, here of length 1
    check_status(driver().cuLaunchKernelEx(config, handle, ctypes.byref(argument), None))


def launch_arguments(
    name: str, grid: tuple[int, int, int], threads: int, shared: int, device: int, stream: int
) -> tuple[int, bytes]:
    """The driver's handle of the kernel and its CUlaunchConfig. `device` must be the current device."""
    compiled = compiled_kernels.get(name) or kernel(name, stream)
    handle = compiled.handles.get(device) or compiled.load(device)
    uses_pdl = compiled.uses_pdl and _supports_pdl(device)
    return handle, _CONFIG.pack(*grid, threads, 1, 1, shared, stream, ctypes.addressof(_PDL_ATTRIBUTE), uses_pdl)


@functools.cache
def _supports_pdl(device: int) -> bool:
    """Compute capability 9.0 or newer, and a driver that can capture such launches in graphs."""
    runtime = cupy().cuda.runtime
    return int(runtime.getDeviceProperties(device)["major"]) >= 9 and runtime.driverGetVersion() >= 12040
