"""CUDA devices: contexts, the current device, properties, memory."""

from __future__ import annotations

import functools
import os
import threading
from typing import Any

from .._check import BackendError
from .cupy_import import cuda_users, cupy

_inherited_users: list[str] = []  # in a forked child: the parent's `cuda_users`
_MEMORY_CLOCK_RATE, _GLOBAL_MEMORY_BUS_WIDTH = 36, 37  # of CUDA's enumeration of device attributes


class _ThreadState(threading.local):
    """The devices that this thread has set before. While one of them is current, the thread can launch kernels."""

    def __init__(self) -> None:
        self.devices: set[int] = set()


thread_state = _ThreadState()


def is_current(device: int) -> bool:
    """Whether the device is current and this thread can launch kernels on it. Costs a third of `use_device`."""
    return device in thread_state.devices and cupy().cuda.runtime.getDevice() == device


class use_device:
    """Makes a device current, and restores the previous one on exit."""

    def __init__(self, device: int) -> None:
        self.device, self.previous = device, device

    def __enter__(self) -> None:
        runtime = cupy().cuda.runtime
        self.previous = runtime.getDevice()
        if self.previous != self.device or self.device not in thread_state.devices:
            # In a new thread, getDevice already names device 0, but no context is current before setDevice.
            runtime.setDevice(self.device)
            thread_state.devices.add(self.device)

    def __exit__(self, *_: object) -> None:
        if self.previous != self.device:
            cupy().cuda.runtime.setDevice(self.previous)


def check_not_forked() -> None:
    """Raises in a child of a process that has used CUDA: an inherited driver or context cannot be used."""
    if _inherited_users:
        raise BackendError(
            "CUDA cannot be used after fork: "
            "start worker processes with multiprocessing.set_start_method('spawn') or 'forkserver'"
        )


os.register_at_fork(after_in_child=lambda: _inherited_users.extend(cuda_users))


@functools.cache
def multiprocessor_count(device: int) -> int:
    return int(cupy().cuda.runtime.getDeviceProperties(device)["multiProcessorCount"])


@functools.cache
def has_fast_integer_mma(device: int) -> bool:
    """Whether `mma.m16n8k32` of bytes exists, and is as fast as that of float16: from 8.0 on, except 10.3."""
    properties = cupy().cuda.runtime.getDeviceProperties(device)
    capability = properties["major"], properties["minor"]
    return capability >= (8, 0) and capability != (10, 3)


@functools.cache
def peak_bandwidth(device: int) -> float:
    """Bytes per second of the device's memory at its highest clock; 0 if the driver does not know them."""
    attribute = cupy().cuda.runtime.deviceGetAttribute
    kilohertz, bus_bits = attribute(_MEMORY_CLOCK_RATE, device), attribute(_GLOBAL_MEMORY_BUS_WIDTH, device)
    return 2 * kilohertz * 1e3 * bus_bits / 8  # two transfers per clock


def current_context() -> int:
    """The driver's handle of the current device's context, which is created if there is none."""
    cupy().cuda.runtime.free(0)  # creates the context
    return int(cupy().cuda.driver.ctxGetCurrent())


def device_memory(size: int) -> Any:
    """`size` bytes of the current device, outside every memory pool. The address is ``ptr``."""
    return cupy().cuda.Memory(size)


def device_count() -> int:
    check_not_forked()
    return int(cupy().cuda.runtime.getDeviceCount())


def existing_device(device: int | None) -> int:
    """The device's number, or the current device's for None. Raises if there is no such device."""
    count = device_count()
    number = cupy().cuda.runtime.getDevice() if device is None else device
    if number >= count:
        raise BackendError(f"there is no device {number}: CUDA finds {count}")
    return int(number)
