"""Executors: where the kernels and CPU loops of a pass go. One runs them, one records kernels, one collects loops."""

from __future__ import annotations

from typing import Any, Protocol

from .._host import extension as _cpu
from .._program.records import record_of
from . import launch as _launch
from .launch_sequence import Launch

Grid = tuple[int, int, int]


class Executor(Protocol):
    """Takes the work of a pass: a kernel and its record for a GPU, or a bound loop of the extension for the CPU."""

    def launch(
        self,
        kernel: str,
        record: bytes,
        grid: Grid,
        threads: int,
        shared: int,
        device: int,
        stream: int,
    ) -> None: ...
    def loop(self, loop: Any) -> None: ...


class DirectExecutor:
    """Launches kernels on the caller's stream; runs loops at once."""

    def launch(
        self,
        kernel: str,
        record: bytes,
        grid: Grid,
        threads: int,
        shared: int,
        device: int,
        stream: int,
    ) -> None:
        _launch.launch(kernel, record, grid, threads, shared, device, stream)

    def loop(self, loop: Any) -> None:
        _cpu.extension().run([loop])


DIRECT = DirectExecutor()
# A symbolic value stands in a record for an address or a number that only a later call knows: which value of the call,
# and how many bytes are added to it. Only fields that `Record.call_values` names hold one.
_SYMBOL_BASE = (0xA5 << 56) - (1 << 64)
_OFFSET_BITS = 40


def symbol(value: int, offset: int = 0) -> int:
    """The symbolic value for value number `value` of a call, plus `offset` bytes. `offset` is below 2**40."""
    return _SYMBOL_BASE + (value << _OFFSET_BITS) + offset


class RecordingExecutor:
    """Writes launches down. The fields of their records that hold symbolic values become relocations."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []

    def launch(
        self,
        kernel: str,
        record: bytes,
        grid: Grid,
        threads: int,
        shared: int,
        device: int,
        stream: int,
    ) -> None:
        relocations = []
        for offset in record_of(kernel).call_values:
            word = int.from_bytes(record[offset : offset + 8], "little", signed=True)
            if word >> 56 == _SYMBOL_BASE >> 56:
                value, addend = divmod(word - _SYMBOL_BASE, 1 << _OFFSET_BITS)
                relocations.append((offset, value, addend))
        self.launches.append(Launch(kernel, grid, threads, shared, record, tuple(relocations)))

    def loop(self, loop: Any) -> None:
        raise AssertionError("loops of the CPU are not recorded")


class CollectingExecutor:
    """Collects the loops of all passes of a recipe, so that they run together, one sample after the other."""

    def __init__(self) -> None:
        self.loops: list[Any] = []

    def launch(
        self,
        kernel: str,
        record: bytes,
        grid: Grid,
        threads: int,
        shared: int,
        device: int,
        stream: int,
    ) -> None:
        raise AssertionError("a CPU launches no kernels")

    def loop(self, loop: Any) -> None:
        self.loops.append(loop)
