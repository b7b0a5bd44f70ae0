"""CUDA devices: contexts, the current device, properties, memory."""

from __future__ import annotations

import functools
import os
import threading
from typing import Any

from .._check import BackendError
from .cupy_import import cupy

_context_users: list[str] = []  # what makes a fork fatal: not empty once a kernel has been launched
_inherited_contexts: list[str] = []  # the same, in a child of such a process


class _ThreadState(threading.local):
    """What the driver knows of a thread: on which devices it can launch."""

    def __init__(self) -> None:
        self.devices: set[int] = set()


thread_state = _ThreadState()


class use_device:
    """Makes a device current, and then the previous one again."""

    def __init__(self, index: int) -> None:
        self.index, self.previous = index, index

    def __enter__(self) -> None:
        runtime = cupy().cuda.runtime
        self.previous = runtime.getDevice()
        if self.previous != self.index or self.index not in thread_state.devices:
            runtime.setDevice(self.index)  # a new thread's device may be the right one, and yet have no context
            thread_state.devices.add(self.index)

    def __exit__(self, *_: object) -> None:
        if self.previous != self.index:
            cupy().cuda.runtime.setDevice(self.previous)


def check_not_forked() -> None:
    """Raises where this process has inherited a CUDA context, which no child of a fork can use."""
    if _inherited_contexts:
        raise BackendError(
            "CUDA cannot be used after fork: "
            "start worker processes with multiprocessing.set_start_method('spawn') or 'forkserver'"
        )


os.register_at_fork(after_in_child=lambda: _inherited_contexts.extend(_context_users))


@functools.cache
def multiprocessor_count(index: int) -> int:
    """The multiprocessors of a device."""
    return int(cupy().cuda.runtime.getDeviceProperties(index)["multiProcessorCount"])


def context() -> int:
    """The driver's, of the current device."""
    cupy().cuda.runtime.free(0)  # makes it, where there is none yet
    if not _context_users:
        _context_users.append("a context")
    return int(cupy().cuda.driver.ctxGetCurrent())


def device_memory(size: int) -> Any:
    """Bytes of the current device, at ``ptr``, that no pool will hand to another."""
    return cupy().cuda.Memory(size)


def device_count() -> int:
    """How many there are."""
    return int(cupy().cuda.runtime.getDeviceCount())


def device_number(index: int | None) -> int:
    """Of a device that is there; None: the current one."""
    check_not_forked()
    runtime = cupy().cuda.runtime
    count = device_count()
    number = runtime.getDevice() if index is None else index
    if number >= count:
        raise BackendError(f"device {number} is not here: CUDA finds {count}")
    return int(number)
