"""Fills a parameter table for images, by the plan's program in the memory of their device."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.convert import host_array
from .._arrays.images import ImageBatch
from .._check import BackendError
from .._gpu import streams
from .._passes.parameters import NULL_ARRAY, StridedArray
from . import draw_kernel as _draws
from .draw_kernel import Draws
from .plan import RecipePlan

_COUNTERS = 1 << 16  # per device, for the graphs that capture a recipe: one for eight samples each
_NOT_CALLED = "a recipe must be called once, with images like these, before it is captured"
_lock = threading.Lock()


class ReplayCounters:
    """Device counters of a recipe, with which the CUDA graphs that capture the recipe count their replays."""

    def __init__(self) -> None:
        self._counters: dict[Any, tuple[Any, list[int]]] = {}

    def address(self, images: ImageBatch) -> int:
        """During a capture, the address of new counters, one per block that draws; else 0.

        Allocated and zeroed before the capture; zeroing inside the graph would reset the counters on every replay.
        """
        if images.device < 0:
            return 0
        key, stream = (images.device, images.library.name), images.library.current_stream(images.device)
        if not streams.is_capturing(stream):
            if key not in self._counters:
                array = images.library.from_numpy(np.zeros(_COUNTERS, np.int64), images.device)
                self._counters[key] = array, [0]
                streams.synchronize_stream(stream, images.device)  # once: any stream may capture afterwards
            return 0
        if key not in self._counters:
            raise BackendError(_NOT_CALLED)
        (array, used), count = self._counters[key], _draws.blocks(images.samples)
        with _lock:
            first, used[0] = used[0], used[0] + count
        if first + count > _COUNTERS:
            raise BackendError(f"CUDA graphs may capture a recipe for {8 * _COUNTERS} samples in all")
        return images.library.pointer(array) + 8 * first


def describe_draws(images: ImageBatch, ids: Any, seed: int, step: int, counters: ReplayCounters) -> Draws:
    """What the kernel needs to draw for these images."""
    first = _check.integer("ids", ids, -_check.MAX_INT64, _check.MAX_INT64) if isinstance(ids, int) else 0
    id_array = NULL_ARRAY if isinstance(ids, int) else _id_array(ids, images)
    return Draws(id_array.pointer, counters.address(images), seed, step, first, id_array.owner)


def draw_table(plan: RecipePlan, images: ImageBatch, draws: Draws, *, with_matrix: bool = True) -> StridedArray:
    """A row of drawn parameters per image, with the recipe's matrix if that is wanted. [N, columns]"""
    program = _device_program(plan, images)
    array = images.library.empty((images.samples, plan.columns), "float64", images.device, None)
    if images.device < 0:
        array[:] = 0.0  # columns that are not drawn are cast with the rest of the table
    table = StridedArray(images.library.pointer(array), plan.columns, 0, 1, 1, array)
    columns = plan.drawn_columns if with_matrix else plan.matrix
    _draws.draw(program, len(plan.program), table, columns, draws, images)
    return table


def _device_program(plan: RecipePlan, images: ImageBatch) -> StridedArray:
    """The plan's program in the memory of the images' device."""
    key = images.device, images.library.name
    table: StridedArray | None = plan.device_programs.get(key)
    if table is None:
        if images.device >= 0 and streams.is_capturing(images.library.current_stream(images.device)):
            raise BackendError(_NOT_CALLED)
        array = images.library.from_numpy(plan.program, images.device)
        if images.device >= 0:
            # Once: any stream may read the program afterwards.
            streams.synchronize_stream(images.library.current_stream(images.device), images.device)
        # Threads that load the program at once share the first copy: launch plans hold its address.
        table = plan.device_programs.setdefault(key, StridedArray(images.library.pointer(array), 0, 0, 1, 1, array))
    return table


def _id_array(ids: Any, images: ImageBatch) -> StridedArray:
    """The samples' ids in the memory of the images' device."""
    if ids is None:
        return NULL_ARRAY
    array = ids
    if images.device < 0 or convert.is_host(ids):
        array = np.ascontiguousarray(host_array("ids", ids, np.int64))
        array = array if images.device < 0 else images.library.from_numpy(array, images.device)
    described = convert.describe(array)
    if described.device != images.device or (images.samples > 1 and described.strides != (1,)):
        raise ValueError("ids on a device must be contiguous and on the images' device: pass a contiguous copy")
    if described.dtype != "int64" or len(described.shape) != 1 or described.shape[0] != images.samples:
        shape = tuple(described.shape)
        raise ValueError(f"ids must be {images.samples} integers (int64), got {described.dtype} of shape {shape}")
    return StridedArray(described.pointer, 0, 0, 1, 0, array)
