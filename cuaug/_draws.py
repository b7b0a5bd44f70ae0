"""Runs a program of draws (kernels/draws/program.cuh), which fills a table with a row for each sample."""

from __future__ import annotations

import struct

import numpy as np

from . import _cpu
from ._images import ONE_IMAGE, Images
from ._parameters import Table

RECORD = struct.Struct("5P 5q 4i")  # `cuaug::Draw`
_SAMPLES = 8  # to a block (kernels/draw.cu)


def draw(
    program: Table,
    length: int,
    table: Table,
    columns: int,
    replays: int,
    ids: Table,
    counts: tuple[int, int, int],
    image: Images,
) -> None:
    """Fills the first `columns` of `table` [N, P], which are all that is wanted, by a program of `length` numbers.

    `counts`: the seed, the step, the first sample's id. `replays`: where `blocks` counters lie, if a graph is captured.
    """
    samples = image.samples
    near = 8 * (length + _SAMPLES * (columns | 1))  # kernels/draw.cu
    shared = near if near <= 48 << 10 else 0
    own = (image.pointer + ONE_IMAGE.size, image.axes.strides[0]) if image.ragged else (0, 0)
    data = _drawing(program.pointer, length, table, columns, ids, counts, samples, own, replays, shared > 0)
    if image.device < 0:
        _cpu.native().draw(data)
    elif samples:
        image.library.launch("cuaug::draw", data, (blocks(samples), 1, 1), 256, shared, image.device)


def draw_each(
    program: np.ndarray, table: np.ndarray, ids: np.ndarray, counts: tuple[int, int, int], own: np.ndarray
) -> None:
    """Fills `table` [N, P] on the host, by arguments of each sample's own (fusion/ragged.py). [N, K]"""
    rows = Table(table.ctypes.data, table.shape[1], 0, 1, 1, table)
    numbers = Table(ids.ctypes.data, 0, 0, 1, 0, ids)
    each = own.ctypes.data, own.shape[1]
    data = _drawing(program.ctypes.data, len(program), rows, rows.n, numbers, counts, len(table), each)
    _cpu.native().draw(data)


def _drawing(
    program: int,
    length: int,
    table: Table,
    columns: int,
    ids: Table,
    counts: tuple[int, int, int],
    samples: int,
    own: tuple[int, int] = (0, 0),
    replays: int = 0,
    staged: bool = False,
) -> bytes:
    pointers = program, table.pointer, ids.pointer, own[0], replays
    return RECORD.pack(*pointers, *counts, samples, own[1], length, table.n, columns, staged)


def blocks(samples: int) -> int:
    """Of the kernel that draws for so many samples."""
    return -(-samples // _SAMPLES)
