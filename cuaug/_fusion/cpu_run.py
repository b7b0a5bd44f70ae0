"""Runs a recipe's passes on a CPU sample by sample, so that each pass finds its input in the cache.

The passes are those of a GPU, with an executor that collects their loops. The extension then runs all loops on one
sample before the next sample, if there are enough samples for all threads.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

from .._arrays.images import ImageBatch
from .._arrays.protocol import Library
from .._gpu.executor import CollectingExecutor
from .._host.extension import extension
from .._passes.parameters import StridedArray
from . import execute
from .plan import RecipePlan
from .recipe_library import RecipeLibrary


class _Buffer(NamedTuple):
    """Memory that collected loops use, and the view of it that a pass received."""

    memory: Any
    key: tuple[Any, ...]  # shape, dtype, order
    array: weakref.ref[Any]


class _ReusedBuffers:
    """Allocates intermediates, and keeps their memory alive until the collected loops have run.

    The loops of one sample run in the order in which they were collected. Memory whose array has been freed can
    therefore serve the next array of the same shape, dtype and order.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self.buffers: list[_Buffer] = []

    def allocate(self, shape: tuple[int, ...], dtype: str, device: int, order: Sequence[int] | None) -> Any:
        key = shape, dtype, order
        freed = (i for i, buffer in enumerate(self.buffers) if buffer.key == key and buffer.array() is None)
        i = next(freed, None)
        memory = self.library.empty(shape, dtype, device, order) if i is None else self.buffers.pop(i).memory
        array = memory[...]
        self.buffers.append(_Buffer(memory, key, weakref.ref(array)))
        return array


def apply(plan: RecipePlan, images: ImageBatch, table: StridedArray) -> Any:
    """As `execute.apply`."""
    buffers, executor = _ReusedBuffers(images.library), CollectingExecutor()
    library = RecipeLibrary(images.library, buffers.allocate)
    result = execute.apply(plan, images._replace(library=library, executor=executor), table)
    extension().run(executor.loops)
    del buffers, library  # not earlier: the loops use the memory that they own
    return images.library.to_user_array(result)
