"""Fills a parameter table for images: runs the plan's program of draws on their device."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from .. import _check
from .._arrays import convert
from .._arrays.images import ImageBatch
from .._check import BackendError
from .._gpu import streams
from .._passes.parameters import NULL_ARRAY, StridedArray
from . import draw_kernel
from .draw_kernel import SAMPLES_PER_BLOCK, Draws
from .plan import RecipePlan

_MAX_COUNTERS = 1 << 16  # per device and library, for all graphs that capture one recipe
_NOT_CALLED = "a recipe must be called once, with images like these, before it is captured"
_lock = threading.Lock()


class ReplayCounters:
    """Device counters of a recipe, with which the CUDA graphs that capture the recipe count their replays."""

    def __init__(self) -> None:
        # Device and library -> array, [number of counters in use].
        self._counters: dict[Any, tuple[Any, list[int]]] = {}

    def address(self, images: ImageBatch) -> int:
        """During a capture, the address of unused counters, one per block of the draw kernel; else 0.

        A call outside a capture allocates and zeroes the counters: a graph would zero them again on every replay.
        """
        if images.device < 0:
            return 0
        key, stream = (images.device, images.library.name), images.library.current_stream(images.device)
        if not streams.is_capturing(stream):
            if key not in self._counters:
                array = images.library.from_numpy(np.zeros(_MAX_COUNTERS, np.int64), images.device)
                streams.synchronize_stream(stream, images.device)  # once: any stream may capture afterwards
                # If several threads allocate counters, all use the first ones: a graph may hold their address.
                self._counters.setdefault(key, (array, [0]))
            return 0
        if key not in self._counters:
            raise BackendError(_NOT_CALLED)
        (array, used_count), count = self._counters[key], draw_kernel.block_count(images.samples)
        with _lock:
            first = used_count[0]
            if first + count > _MAX_COUNTERS:
                samples = SAMPLES_PER_BLOCK * _MAX_COUNTERS
                raise BackendError(f"CUDA graphs may capture a recipe for {samples} samples in all")
            used_count[0] += count
        return images.library.pointer(array) + 8 * first


def describe_draws(images: ImageBatch, ids: Any, seed: int, step: int, counters: ReplayCounters) -> Draws:
    """The draws for these images. `ids`: as a user passes them (`convert.sample_ids`); None: 0 to N - 1."""
    if ids is None:  # as below, in fewer steps
        return Draws(0, counters.address(images), seed, step, 0, None)
    ids = sample_ids(ids, images.samples)
    first_id = ids if isinstance(ids, int) else 0
    id_array = NULL_ARRAY if isinstance(ids, int) else _id_array(ids, images)
    return Draws(id_array.pointer, counters.address(images), seed, step, first_id, id_array.owner)


def sample_ids(ids: Any, samples: int) -> Any:
    """As `convert.sample_ids`. If `ids` is the first sample's id, the last sample's id must fit in an int64, too."""
    ids = convert.sample_ids(ids)
    if not isinstance(ids, int):
        return ids
    return _check.integer("ids", ids, -_check.MAX_INT64, _check.MAX_INT64 + 1 - max(samples, 1))


def draw_table(plan: RecipePlan, images: ImageBatch, draws: Draws, *, with_matrix: bool = True) -> StridedArray:
    """The table of drawn parameters. [N, columns]

    `with_matrix`: also the matrices of the recipe and of its moves (moves.py).
    """
    shape = images.samples, plan.column_count
    if images.device < 0:  # zeros: JAX casts the table to float32, and garbage in columns not drawn could overflow
        array = images.library.from_numpy(np.zeros(shape), -1)
    else:
        array = images.library.empty(shape, "float64", images.device, None)
    # The matrices are the last of the columns that the program fills.
    column_count = plan.program_column_count if with_matrix else plan.matrix_column
    return _fill_table(plan, images, draws, array, column_count)


def draw_table_of_call(plan: RecipePlan, images: ImageBatch, draws: Draws) -> StridedArray:
    """As `draw_table` without matrices, and not zeroed: for a launch plan, whose passes alone read the table."""
    array = images.library.empty((images.samples, plan.column_count), "float64", images.device, None)
    return _fill_table(plan, images, draws, array, plan.matrix_column)


def _fill_table(plan: RecipePlan, images: ImageBatch, draws: Draws, array: Any, column_count: int) -> StridedArray:
    program = _device_program(plan, images)
    table = StridedArray(images.library.pointer(array), plan.column_count, 0, 1, 1, array)
    draw_kernel.draw(program, len(plan.program), table, column_count, draws, images)
    return table


def _device_program(plan: RecipePlan, images: ImageBatch) -> StridedArray:
    """The plan's program in the memory of the images' device."""
    key = images.device, images.library.name
    program: StridedArray | None = plan.device_programs.get(key)
    if program is None:
        if images.device >= 0 and streams.is_capturing(images.library.current_stream(images.device)):
            raise BackendError(_NOT_CALLED)
        array = images.library.from_numpy(plan.program, images.device)
        if images.device >= 0:
            # Once: any stream may read the program afterwards.
            streams.synchronize_stream(images.library.current_stream(images.device), images.device)
        # If several threads load the program, all use the first copy: launch plans hold its address.
        program = plan.device_programs.setdefault(key, StridedArray(images.library.pointer(array), 0, 0, 1, 1, array))
    return program


def _id_array(ids: Any, images: ImageBatch) -> StridedArray:
    """The samples' ids in the memory of the images' device."""
    array = ids
    if images.device < 0 or convert.is_host(ids):
        array = np.ascontiguousarray(convert.host_values("ids", ids), np.int64)
        array = array if images.device < 0 else images.library.from_numpy(array, images.device)
    descriptor = convert.describe(array)
    if tuple(descriptor.shape) != (images.samples,):
        raise ValueError(f"ids must be {images.samples} integers, got shape {tuple(descriptor.shape)}")
    if descriptor.dtype != "int64":
        raise ValueError(f"ids must be integers (int64), got {descriptor.dtype}")
    if descriptor.device != images.device or (images.samples > 1 and descriptor.strides != (1,)):
        raise ValueError("ids on a device must be contiguous and on the images' device: pass a contiguous copy")
    return StridedArray(descriptor.pointer, 0, 0, 1, 0, descriptor.owner)
