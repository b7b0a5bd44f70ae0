"""Recorded launches. A call patches their records and makes all launches."""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from .._check import BackendError
from .._host.extension import extension
from . import launch
from .devices import is_current, use_device
from .driver import LAUNCH_ARGUMENTS, check_status, driver, function_address

_INT64 = struct.Struct("q")
_STREAM_OFFSET = 32  # bytes, in a CUlaunchConfig


class Launch(NamedTuple):
    """One recorded launch.

    `relocations`: the fields of the record that each call fills in: byte offset, index of the call's value, addend.
    """

    kernel: str
    grid: tuple[int, int, int]
    threads: int
    shared: int
    record: bytes
    relocations: tuple[tuple[int, int, int], ...]


class LaunchSequence:
    """Makes recorded launches in order on one device. Any thread may call it, any number of times."""

    def __init__(self, launches: Sequence[Launch], device: int) -> None:
        self._launches, self._device = launches, device
        self._sequence: Any = None

    def __call__(self, stream: int, values: Sequence[int]) -> None:
        if not is_current(self._device):
            with use_device(self._device):
                self(stream, values)
            return
        if self._sequence is None:
            self._sequence = self._load(stream)
        check_status(self._sequence.run(stream, values))

    def _load(self, stream: int) -> Any:
        """The same sequence with the kernels' driver handles. Compiles kernels at first use."""
        launches = []
        for name, grid, threads, shared, record, relocations in self._launches:
            handle, config = launch.launch_arguments(name, grid, threads, shared, self._device, stream)
            launches.append((handle, config, record, relocations))
        return _sequence_class()(function_address(driver().cuLaunchKernelEx), launches)


class _PythonLaunchSequence:
    """Replaces the extension's class (cpu/bindings/launch_sequence.cpp) where the extension cannot be loaded."""

    def __init__(self, launch_kernel: int, launches: Sequence[tuple[int, bytes, bytes, Any]]) -> None:
        self._launch_kernel = ctypes.CFUNCTYPE(ctypes.c_int, *LAUNCH_ARGUMENTS)(launch_kernel)
        self._launches = launches

    def run(self, stream: int, values: Sequence[int]) -> int:
        for handle, config, record, relocations in self._launches:
            call_config, call_record = bytearray(config), bytearray(record)
            _INT64.pack_into(call_config, _STREAM_OFFSET, stream)
            for offset, index, addend in relocations:
                _INT64.pack_into(call_record, offset, values[index] + addend)
            argument = ctypes.c_char_p(bytes(call_record))
            status: int = self._launch_kernel(bytes(call_config), handle, ctypes.byref(argument), None)
            if status:
                return status
        return 0


@functools.cache
def _sequence_class() -> Any:
    try:
        return extension().LaunchSequence
    except BackendError:
        return _PythonLaunchSequence
