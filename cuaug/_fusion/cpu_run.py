"""Runs a recipe's passes on a CPU one sample after the other: what a pass makes of it, the next one finds in the cache.

The passes run as ever, but their loops are only made, and run at the end, all of them together.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays.descriptor import ArrayDescriptor
from .._arrays.images import ImageBatch
from .._arrays.protocol import Library
from .._arrays.registry import library_of
from .._gpu.executor import CollectingExecutor
from .._host import extension as _cpu
from .._passes.parameters import StridedArray
from . import execute as run
from .plan import Plan


class _Kept(NamedTuple):
    """Memory that loops wait for, and the array over it that was handed out."""

    memory: Any
    kind: tuple[Any, ...]
    array: weakref.ref[Any]


class _ReusedMemory:
    """An array library whose memory stays until the collected loops have run.

    Loops run in their order for each sample, so that the memory of an array that nobody has any more serves the next
    of its kind.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.name, self.channels_first = library.name, library.channels_first
        self.kept: list[_Kept] = []
        self.constants: list[Any] = []

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        own = library_of(type(array))  # what JAX hands out is an array of NumPy until it is finished
        assert own is not None
        return own.describe(array, stream)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        kind = shape, dtype, order
        i = next((i for i, kept in enumerate(self.kept) if kept.kind == kind and kept.array() is None), None)
        memory = self.library.empty(shape, dtype, device, order) if i is None else self.kept.pop(i).memory
        array = memory[...]
        self.kept.append(_Kept(memory, kind, weakref.ref(array)))
        return array

    def pointer(self, array: Any) -> int:
        return self.library.pointer(array)

    def finish(self, array: Any) -> Any:
        return array

    def stream(self, device: int) -> int:
        return self.library.stream(device)

    def load(self, values: np.ndarray, device: int) -> Any:
        self.constants.append(self.library.load(values, device))
        return self.constants[-1]

    def namespace(self) -> Any:
        return self.library.namespace()


def apply(plan: Plan, image: ImageBatch, table: StridedArray) -> Any:
    """The images, changed as the rows of the table say: as `run.apply`."""
    memory, executor = _ReusedMemory(image.library), CollectingExecutor()
    made = run.apply(plan, image._replace(library=memory, executor=executor), table)
    _cpu.extension().run(executor.loops)
    del memory  # the loops read and write what it keeps
    return image.library.finish(made)
