"""Launches that are known before a call: it fills in what differs, and all of them are made at once."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from .._check import BackendError
from .._host import extension as _cpu
from . import devices, driver, launch

_INT64 = struct.Struct("q")
_STREAM_OFFSET = 32  # where it stands in a CUlaunchConfig


class Launch(NamedTuple):
    """A kernel's. `relocations`: where in the record, which of a call's values goes there, and what is added to it."""

    kernel: str
    grid: tuple[int, int, int]
    threads: int
    shared: int
    record: bytes
    relocations: tuple[tuple[int, int, int], ...]


class LaunchSequence:
    """Launches one after the other on a device, as often as wanted, by any thread."""

    def __init__(self, launches: Sequence[Launch], index: int) -> None:
        self._launches, self._index = launches, index
        self._ready: Any = None

    def __call__(self, stream: int, values: Sequence[int]) -> None:
        with devices.use_device(self._index):
            if self._ready is None:
                self._ready = self._loaded(stream)
            driver.check_status(self._ready.run(stream, values))

    def _loaded(self, stream: int) -> Any:
        """The same with the driver's handles of the kernels, which are compiled where that is still to be done."""
        known = []
        for name, grid, threads, shared, record, relocations in self._launches:
            handle, config = launch.launch_arguments(name, grid, threads, shared, self._index, stream)
            known.append((handle, config, record, relocations))
        return _launch_plan_class()(driver.address(driver.driver().cuLaunchKernelEx), known)


class _PythonLaunchPlan:
    """What the extension's class of this name does, where there is no extension."""

    def __init__(self, function: int, launches: Sequence[tuple[int, bytes, bytes, Any]]) -> None:
        self._function = ctypes.CFUNCTYPE(ctypes.c_int, *driver.LAUNCH_ARGUMENTS)(function)
        self._launches = launches

    def run(self, stream: int, values: Sequence[int]) -> int:
        for handle, known, record, relocations in self._launches:
            config, filled = bytearray(known), bytearray(record)
            _INT64.pack_into(config, _STREAM_OFFSET, stream)
            for at, value, plus in relocations:
                _INT64.pack_into(filled, at, values[value] + plus)
            argument = ctypes.c_char_p(bytes(filled))
            status: int = self._function(bytes(config), handle, ctypes.byref(argument), None)
            if status:
                return status
        return 0


@functools.cache
def _launch_plan_class() -> Any:
    try:
        return _cpu.extension().LaunchPlan
    except BackendError:
        return _PythonLaunchPlan
