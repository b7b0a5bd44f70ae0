"""Runs a program of draws (kernels/draws/instruction.cuh), which fills a table with a row for each sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._arrays.images import ImageBatch
from .._host import extension as _cpu
from .._passes.parameters import StridedArray
from .._program.records import DRAW, RAGGED_IMAGE

_SAMPLES = 8  # to a block (kernels/passes/draw.cu)


class Draws(NamedTuple):
    """Which draws are wanted."""

    ids: int  # where those of the samples lie, if `first` is not the first of them
    replays: int  # where `blocks` counters lie, if a graph is captured
    seed: int
    step: int
    first: int
    owner: object  # of what lies there

    @property
    def numbers(self) -> tuple[int, ...]:
        return self[:-1]


def draw(
    program: StridedArray, length: int, table: StridedArray, columns: int, draws: Draws, image: ImageBatch
) -> None:
    """Fills the first `columns` of `table` [N, P], which are all that is wanted, by a program of `length` numbers."""
    samples = image.samples
    near = 8 * (length + _SAMPLES * (columns | 1))  # kernels/passes/draw.cu
    shared = near if near <= 48 << 10 else 0
    own = (image.pointer + RAGGED_IMAGE.size, image.axes.strides[0]) if image.ragged else (0, 0)
    data = _drawing(program.pointer, length, table, columns, draws, samples, own, shared > 0)
    if image.device < 0:
        _cpu.extension().draw(data)
    elif samples:
        stream = image.library.current_stream(image.device)
        image.executor.launch("cuaug::draw", data, (blocks(samples), 1, 1), 256, shared, image.device, stream)


def draw_each(
    program: np.ndarray, table: np.ndarray, ids: np.ndarray, counts: tuple[int, int], own: np.ndarray
) -> None:
    """Fills `table` [N, P] on the host, by arguments of each sample's own (fusion/ragged.py). [N, K]

    `counts`: the seed, the step.
    """
    rows = StridedArray(table.ctypes.data, table.shape[1], 0, 1, 1, table)
    each = own.ctypes.data, own.shape[1]
    draws = Draws(ids.ctypes.data, 0, *counts, 0, ids)
    _cpu.extension().draw(
        _drawing(program.ctypes.data, len(program), rows, rows.sample_stride, draws, len(table), each)
    )


def _drawing(
    program: int,
    length: int,
    table: StridedArray,
    columns: int,
    draws: Draws,
    samples: int,
    own: tuple[int, int] = (0, 0),
    staged: bool = False,
) -> bytes:
    ids, replays, *counts = draws.numbers
    pointers = program, table.pointer, ids, own[0], replays
    return DRAW.pack(*pointers, *counts, samples, own[1], length, table.sample_stride, columns, staged)


def blocks(samples: int) -> int:
    """Of the kernel that draws for so many samples."""
    return -(-samples // _SAMPLES)
