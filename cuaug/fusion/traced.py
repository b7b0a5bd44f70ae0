"""What a recipe's passes launch on a GPU, written down once for images of a kind.

From then on a call allocates memory, fills in pointers and launches: what follows from shapes and dtypes is not worked
out again. The passes run as ever while they are traced, with pointers that are names, of which records are made.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .. import _array, _cuda, _dlpack
from .._images import Images
from .._parameters import Table
from . import by_sample, run
from .plan import Plan

_NAME = 0xA5 << 56  # above all addresses, and no number that a record holds
_OFFSETS = 40  # bits of a name that count bytes from where the memory begins
_POINTER = struct.Struct("P")
_SOURCE, _TABLE = 0, 1
_MOST = 64  # traces of a plan: batches come in few sizes


class Slot(NamedTuple):
    """Memory that a call takes, as an array that is not there yet."""

    name: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: int
    order: Sequence[int] | None


class _Launch(NamedTuple):
    kernel: str
    grid: tuple[int, int, int]
    threads: int
    shared: int
    record: bytes
    pointers: tuple[tuple[int, int, int], ...]  # each: where in the record, to which memory, how many bytes into it


class _Tracing:
    """An array library whose memory has names, and whose launches are written down."""

    def __init__(self, library: _array.Library) -> None:
        self.library = library
        self.name, self.channels_first = library.name, library.channels_first
        self.steps: list[Slot | _Launch] = []
        self.kept: list[Any] = []  # constants that records point to
        self.slots = _TABLE + 1

    def describe(self, array: Any, stream: int | None = None) -> _dlpack.Tensor:
        return _dlpack.Tensor(self.pointer(array), array.shape, array.strides, array.dtype, array.device, False, array)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Slot:
        slot = Slot(self.slots, shape, _dlpack.contiguous(shape, order), dtype, device, order)
        self.slots += 1
        self.steps.append(slot)
        return slot

    def pointer(self, array: Any) -> int:
        return _name(array.name) if isinstance(array, Slot) else self.library.pointer(array)

    def finish(self, array: Any) -> Any:
        return array

    def stream(self, device: int) -> int:
        return self.library.stream(device)

    def load(self, values: np.ndarray, device: int) -> Any:
        self.kept.append(self.library.load(values, device))
        return self.kept[-1]

    def namespace(self) -> Any:
        return self.library.namespace()

    def loop(self, loop: Any) -> None:
        raise AssertionError("a CPU's loops are not traced")

    def launch(
        self, kernel: str, data: bytes, grid: tuple[int, int, int], threads: int, shared: int, device: int
    ) -> None:
        words = ((at, int.from_bytes(data[at : at + 8], "little")) for at in range(0, len(data) - 7, 8))
        named = [(at, word - _NAME) for at, word in words if word >> 56 == _NAME >> 56]
        pointers = tuple((at, word >> _OFFSETS, word & ((1 << _OFFSETS) - 1)) for at, word in named)
        self.steps.append(_Launch(kernel, grid, threads, shared, data, pointers))


def _name(number: int) -> int:
    return _NAME + (number << _OFFSETS)


@dataclass
class Traced:
    """A recipe's launches, for images of one shape, dtype, layout and alignment on one device."""

    steps: list[Slot | _Launch]
    last: dict[int, list[int]]  # the memory that no step needs after each
    result: int
    kept: list[Any]

    def __call__(self, image: Images, table: Table) -> Any:
        """The images, changed as the rows of the table say."""
        library, device = image.library, image.device
        stream = library.stream(device)
        pointers = {_SOURCE: image.pointer - image.pointer % 16, _TABLE: table.pointer}
        arrays: dict[int, Any] = {}
        for i, step in enumerate(self.steps):
            if isinstance(step, Slot):
                array = arrays[step.name] = library.empty(step.shape, step.dtype, device, step.order)
                pointers[step.name] = library.pointer(array)
                continue
            record = bytearray(step.record)
            for at, name, offset in step.pointers:
                _POINTER.pack_into(record, at, pointers[name] + offset)
            _cuda.launch(step.kernel, bytes(record), step.grid, step.threads, step.shared, device, stream)
            for name in self.last.get(i, ()):
                del arrays[name]
        return library.finish(arrays[self.result])


def apply(plan: Plan, image: Images, table: Table) -> Any:
    """The images, changed as the rows of the table say: as `run.apply`."""
    if image.device < 0:
        return by_sample.apply(plan, image, table)
    if not image.samples:
        return run.apply(plan, image, table)
    key = image.axes, image.pointer % 16, image.dtype, image.device, image.library.name
    if key not in plan.traces:
        stream = image.library.stream(image.device)
        if _cuda.is_capturing(stream):  # constants that a graph holds are not there for other calls
            return run.apply(plan, image, table)
        while len(plan.traces) >= _MOST:
            plan.traces.pop(next(iter(plan.traces)), None)
        made = plan.traces[key] = _traced(plan, image)
        if made and made.kept:
            _cuda.wait(stream, image.device)  # once: any stream may read them from now on
    known = plan.traces.get(key)
    return known(image, table) if known else run.apply(plan, image, table)


def _traced(plan: Plan, image: Images) -> Traced | None:
    """None where what comes back is not memory that the call takes."""
    tracing = _Tracing(image.library)
    named = image._replace(pointer=_name(_SOURCE) + image.pointer % 16, library=tracing, owner=None)
    made = run.apply(plan, named, Table(_name(_TABLE), plan.columns, 0, 1, 1, None))
    if not isinstance(made, Slot):
        return None
    used = {
        name: i for i, step in enumerate(tracing.steps) if isinstance(step, _Launch) for _, name, _ in step.pointers
    }
    last: dict[int, list[int]] = {}
    for name, i in used.items():
        if name not in (_SOURCE, _TABLE, made.name):
            last.setdefault(i, []).append(name)
    return Traced(tracing.steps, last, made.name, tracing.kept)
