"""Executors: where the kernels and CPU loops of a pass go. One runs them, the other records them."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from .._host.extension import extension
from .._program.records import record_of
from . import launch
from .launch_sequence import Launch

Grid = tuple[int, int, int]


class Executor(Protocol):
    """Takes the work of a pass: a kernel and its record for a GPU, or a loop of the extension for the CPU.

    `loop` takes the name of a kernel, which only identifies the type of the record; a `BoundLoop` of the extension,
    which is a loop with all its arguments except the record; and the record of this call.

    `launch` takes its values one by one: a NamedTuple of them would add 0.4 us to every launch.
    """

    def launch(
        self, kernel: str, record: bytes, grid: Grid, threads: int, shared: int, device: int, stream: int, /
    ) -> None: ...
    def loop(self, kernel: str, loop: Any, record: bytes, /) -> None: ...


class DirectExecutor:
    """Launches kernels on the caller's stream; runs loops immediately."""

    def launch(
        self, kernel: str, record: bytes, grid: Grid, threads: int, shared: int, device: int, stream: int, /
    ) -> None:
        launch.launch(kernel, record, grid, threads, shared, device, stream)

    def loop(self, kernel: str, loop: Any, record: bytes, /) -> None:
        extension().run(loop, record)


DIRECT = DirectExecutor()
Relocation = tuple[int, int, int]  # byte offset in a record, index of the call's value, addend
# While launches and loops are recorded, a symbolic value stands in a record for an address or a number that only a
# later call knows. It holds the index of that value among the call's values, and an addend (bytes, if the value is an
# address). Only fields at `Record.call_value_offsets` may hold one. All other values of these fields are addresses,
# none of which has the highest byte 0xA5 that marks a symbolic value.
_SYMBOL_BASE = (0xA5 << 56) - (1 << 64)
_ADDEND_BITS = 40


def symbol(index: int, addend: int = 0) -> int:
    """The symbolic value for a call's value at `index`, plus `addend` bytes. `addend` is below 2**40."""
    return _SYMBOL_BASE + (index << _ADDEND_BITS) + addend


class RecordedLoop(NamedTuple):
    """A loop of the extension, its record, and the fields of the record that each call fills in."""

    loop: Any
    record: bytes
    relocations: tuple[Relocation, ...]


class RecordingExecutor:
    """Records launches and loops. The fields of their records that hold symbolic values become relocations."""

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self.loops: list[RecordedLoop] = []

    def launch(
        self, kernel: str, record: bytes, grid: Grid, threads: int, shared: int, device: int, stream: int, /
    ) -> None:
        self.launches.append(Launch(kernel, grid, threads, shared, record, _relocations(kernel, record)))

    def loop(self, kernel: str, loop: Any, record: bytes, /) -> None:
        self.loops.append(RecordedLoop(loop, record, _relocations(kernel, record)))


def _relocations(kernel: str, record: bytes) -> tuple[Relocation, ...]:
    relocations = []
    for offset in record_of(kernel).call_value_offsets:
        field = int.from_bytes(record[offset : offset + 8], "little", signed=True)
        if field >> 56 == _SYMBOL_BASE >> 56:
            index, addend = divmod(field - _SYMBOL_BASE, 1 << _ADDEND_BITS)
            relocations.append((offset, index, addend))
    return tuple(relocations)
