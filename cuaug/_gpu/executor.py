"""Executors: where the kernels and CPU loops of a pass go. One runs them, one records kernels, one collects loops."""

from __future__ import annotations

from typing import Any, Protocol

from .._host.extension import extension
from .._program.records import record_of
from . import launch
from .launch_sequence import Launch

Grid = tuple[int, int, int]


class Executor(Protocol):
    """Takes the work of a pass: a kernel and its record for a GPU, or a bound loop of the extension for the CPU.

    `launch` takes its values one by one: a NamedTuple of them would add 0.4 us to every launch.
    """

    def launch(
        self, kernel: str, record: bytes, grid: Grid, threads: int, shared: int, device: int, stream: int, /
    ) -> None: ...
    def loop(self, loop: Any) -> None: ...


class DirectExecutor:
    """Launches kernels on the caller's stream; runs loops immediately."""

    def launch(
        self, kernel: str, record: bytes, grid: Grid, threads: int, shared: int, device: int, stream: int, /
    ) -> None:
        launch.launch(kernel, record, grid, threads, shared, device, stream)

    def loop(self, loop: Any) -> None:
        extension().run([loop])


DIRECT = DirectExecutor()
# While launches are recorded, a symbolic value stands in a record for an address or a number that only a later call
# knows. It holds the index of that value among the call's values, and an addend (bytes, if the value is an address).
# Only fields at `Record.call_value_offsets` may hold one; all other values of these fields are addresses, none of which
# has the highest byte 0xA5 that marks a symbolic value.
_SYMBOL_BASE = (0xA5 << 56) - (1 << 64)
_ADDEND_BITS = 40


def symbol(index: int, addend: int = 0) -> int:
    """The symbolic value for a call's value at `index`, plus `addend` bytes. `addend` is below 2**40."""
    return _SYMBOL_BASE + (index << _ADDEND_BITS) + addend


class RecordingExecutor:
    """Records launches. The fields of their records that hold symbolic values become relocations."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []

    def launch(
        self, kernel: str, record: bytes, grid: Grid, threads: int, shared: int, device: int, stream: int, /
    ) -> None:
        relocations = []
        for offset in record_of(kernel).call_value_offsets:
            field = int.from_bytes(record[offset : offset + 8], "little", signed=True)
            if field >> 56 == _SYMBOL_BASE >> 56:
                index, addend = divmod(field - _SYMBOL_BASE, 1 << _ADDEND_BITS)
                relocations.append((offset, index, addend))
        self.launches.append(Launch(kernel, grid, threads, shared, record, tuple(relocations)))

    def loop(self, loop: Any) -> None:
        raise AssertionError("CPU loops are not recorded")


class CollectingExecutor:
    """Collects the loops of all passes of a recipe, to run them together, one sample after the other."""

    def __init__(self) -> None:
        self.loops: list[Any] = []

    def launch(self, *_: object) -> None:
        raise AssertionError("a CPU launches no kernels")

    def loop(self, loop: Any) -> None:
        self.loops.append(loop)
