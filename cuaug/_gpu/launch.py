"""Launches one kernel through the driver's own function, which costs half of what CuPy's call of a kernel does."""

from __future__ import annotations

import ctypes
import functools
import struct

from .cupy_import import cupy
from .devices import _context_users, thread_state, use_device
from .driver import check_status, driver
from .kernels import _kernels, kernel

# cuda.h: a CUlaunchConfig, and the CUlaunchAttribute that lets a kernel be set up while the one before is at work.
_CONFIG = struct.Struct("7I4xQQI4x")
_PDL_ATTRIBUTE = ctypes.create_string_buffer(struct.pack("I4xI60x", 6, 1))


def launch(
    name: str, data: bytes, grid: tuple[int, int, int], threads: int, shared: int, index: int, stream: int
) -> None:
    """Runs a kernel on `stream` of device `index`, with `data` as its one argument, and `shared` bytes of memory.

    By the driver's own function, which costs half of what CuPy's call of a kernel does (benchmarks/log/host-cost.md).
    """
    if cupy().cuda.runtime.getDevice() != index or index not in thread_state.devices:
        with use_device(index):
            launch(name, data, grid, threads, shared, index, stream)
        return
    handle, config = launch_arguments(name, grid, threads, shared, index, stream)
    argument = ctypes.c_char_p(data)  # of the driver's list of arguments, pointers, the only one
    check_status(driver().cuLaunchKernelEx(config, handle, ctypes.byref(argument), None))


def launch_arguments(
    name: str, grid: tuple[int, int, int], threads: int, shared: int, index: int, stream: int
) -> tuple[int, bytes]:
    """The kernel on device `index`, which is the current one, and how it is launched, as the driver knows them."""
    run = _kernels.get(name) or kernel(name, stream)
    handle = run.handles.get(index) or run.load(index)
    if not _context_users:
        _context_users.append(name)
    follows = run.follows and _supports_pdl(index)
    return handle, _CONFIG.pack(*grid, threads, 1, 1, shared, stream, ctypes.addressof(_PDL_ATTRIBUTE), follows)


@functools.cache
def _supports_pdl(index: int) -> bool:
    """Compute capability 9.0, and a driver that can put it into graphs."""
    runtime = cupy().cuda.runtime
    return int(runtime.getDeviceProperties(index)["major"]) >= 9 and runtime.driverGetVersion() >= 12040
