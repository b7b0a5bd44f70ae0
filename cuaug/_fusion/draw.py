"""Draws a table for images, by a plan's program in the memory of their device."""

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
from .plan import Plan

_REPLAYS = 1 << 16  # counters of graphs that capture a recipe: one for eight samples each
_COLD = "a recipe must be called once, with images like these, before it is captured"
_lock = threading.Lock()


class Replays:
    """Where the graphs that capture a recipe count their replays, on each device."""

    def __init__(self) -> None:
        self._counters: dict[Any, tuple[Any, list[int]]] = {}

    def of(self, image: ImageBatch) -> int:
        """The address of a counter for each block that draws, while a graph is being captured: else 0.

        Memory of before the capture: what a graph writes zeros into, each replay would begin with.
        """
        if image.device < 0:
            return 0
        key = (image.device, image.library.name)
        if not streams.is_capturing(image.library.stream(image.device)):
            if key not in self._counters:
                array = image.library.load(np.zeros(_REPLAYS, np.int64), image.device)
                self._counters[key] = array, [0]
                streams.synchronize_stream(image.library.stream(image.device), image.device)  # once, as for a program
            return 0
        if key not in self._counters:
            raise BackendError(_COLD)
        (array, taken), count = self._counters[key], _draws.blocks(image.samples)
        with _lock:
            first, taken[0] = taken[0], taken[0] + count
        if first + count > _REPLAYS:
            raise BackendError(f"CUDA graphs may capture a recipe for {8 * _REPLAYS} samples in all")
        return image.library.pointer(array) + 8 * first


def asked(image: ImageBatch, ids: Any, seed: int, step: int, replays: Replays) -> Draws:
    """What is to be drawn for these images."""
    first = _check.whole("ids", ids, -_check.INT64, _check.INT64) if isinstance(ids, int) else 0
    each = NULL_ARRAY if isinstance(ids, int) else _ids(ids, image)
    return Draws(each.pointer, replays.of(image), seed, step, first, each.owner)


def drawn(plan: Plan, image: ImageBatch, draws: Draws, *, whole: bool = True) -> StridedArray:
    """A row of draws for each of these images, with the whole recipe's matrix if that is wanted. [N, columns]"""
    program = _program(plan, image)
    array = image.library.empty((image.samples, plan.columns), "float64", image.device, None)
    if image.device < 0:
        array[:] = 0.0  # what is not drawn may be cast all the same, with the rest of the table
    table = StridedArray(image.library.pointer(array), plan.columns, 0, 1, 1, array)
    _draws.draw(program, len(plan.program), table, plan.drawn if whole else plan.matrix, draws, image)
    return table


def _program(plan: Plan, image: ImageBatch) -> StridedArray:
    """In the memory of the images' device."""
    key = image.device, image.library.name
    table: StridedArray | None = plan.programs.get(key)
    if table is None:
        if image.device >= 0 and streams.is_capturing(image.library.stream(image.device)):
            raise BackendError(_COLD)
        array = image.library.load(plan.program, image.device)
        if image.device >= 0:
            streams.synchronize_stream(
                image.library.stream(image.device), image.device
            )  # once: any stream may read it from now on
        # Threads that meet here share the first: what is traced points to it.
        table = plan.programs.setdefault(key, StridedArray(image.library.pointer(array), 0, 0, 1, 1, array))
    return table


def _ids(ids: Any, image: ImageBatch) -> StridedArray:
    if ids is None:
        return NULL_ARRAY
    if image.device < 0:
        array: Any = np.ascontiguousarray(host_array("ids", ids, np.int64))
    else:
        array = (
            image.library.load(np.ascontiguousarray(host_array("ids", ids, np.int64)), image.device)
            if convert.is_host(ids)
            else ids
        )
    described = convert.describe(array)
    if described.device != image.device or (image.samples > 1 and described.strides != (1,)):
        raise ValueError("ids on a device must lie on the images' own, one after the other: pass a contiguous copy")
    if described.dtype != "int64" or len(described.shape) != 1 or described.shape[0] != image.samples:
        raise ValueError(
            f"ids must be {image.samples} integers (int64), got {described.dtype} of shape {tuple(described.shape)}"
        )
    return StridedArray(described.pointer, 0, 0, 1, 0, array)
