"""Runs a recipe's passes on a CPU sample by sample, so that each pass finds its input in the cache.

The passes are called as on a GPU, but their loops are collected and run together at the end.
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
from . import execute
from .plan import RecipePlan


class _Buffer(NamedTuple):
    """Memory that collected loops use, and the array over it that a pass was given."""

    memory: Any
    key: tuple[Any, ...]  # shape, dtype, order
    array: weakref.ref[Any]


class _ReusedMemory:
    """An array library whose memory stays alive until the collected loops have run.

    Loops run in their order for each sample. Memory whose array has been freed can therefore serve the next array of
    the same shape, dtype and order.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.name, self.channels_first = library.name, library.channels_first
        self.buffers: list[_Buffer] = []
        self.constants: list[Any] = []

    def describe(self, array: Any, stream: int | None = None) -> ArrayDescriptor:
        library = library_of(type(array))  # JAX's buffers are NumPy arrays until they are finished
        assert library is not None
        return library.describe(array, stream)

    def empty(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        key = shape, dtype, order
        freed = (i for i, buffer in enumerate(self.buffers) if buffer.key == key and buffer.array() is None)
        i = next(freed, None)
        memory = self.library.empty(shape, dtype, device, order) if i is None else self.buffers.pop(i).memory
        array = memory[...]
        self.buffers.append(_Buffer(memory, key, weakref.ref(array)))
        return array

    def pointer(self, array: Any) -> int:
        return self.library.pointer(array)

    def to_user_array(self, array: Any) -> Any:
        return array

    def current_stream(self, device: int) -> int:
        return self.library.current_stream(device)

    def from_numpy(self, values: np.ndarray, device: int) -> Any:
        self.constants.append(self.library.from_numpy(values, device))
        return self.constants[-1]

    def namespace(self) -> Any:
        return self.library.namespace()


def apply(plan: RecipePlan, images: ImageBatch, table: StridedArray) -> Any:
    """The images, transformed by the rows of the table: as `execute.apply`."""
    memory, executor = _ReusedMemory(images.library), CollectingExecutor()
    result = execute.apply(plan, images._replace(library=memory, executor=executor), table)
    _cpu.extension().run(executor.loops)
    del memory  # the loops read and write its buffers
    return images.library.to_user_array(result)
