"""Runs a program of draws (kernels/draws/instruction.cuh), which fills a table with one row per sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._arrays.images import ImageBatch
from .._host.extension import extension
from .._passes.parameters import StridedArray
from .._program.records import DRAW, RAGGED_IMAGE

SAMPLES_PER_BLOCK = 8  # kernels/passes/draw.cu
_THREADS = 256
_MAX_SHARED = 48 << 10  # bytes of shared memory that need no MAX_DYNAMIC_SHARED_SIZE_BYTES attribute


class Draws(NamedTuple):
    """The random numbers to draw: those of a seed, a step and the samples' ids."""

    ids: int  # address of int64 ids [N]; 0: they count up from `first_id`
    replays: int  # address of one counter per block that counts a CUDA graph's replays (`ReplayCounters`); 0: none
    seed: int
    step: int
    first_id: int
    owner: object  # keeps the memory of the ids alive

    @property
    def call_values(self) -> tuple[int, ...]:
        return self[:-1]


def draw(
    program: StridedArray, length: int, table: StridedArray, drawn_columns: int, draws: Draws, images: ImageBatch
) -> None:
    """Fills the first `drawn_columns` columns of `table` [N, P]. `length`: the number of float64 of the program."""
    samples = images.samples
    # The program and the rows of a block, as in kernels/passes/draw.cu.
    shared = 8 * (length + SAMPLES_PER_BLOCK * (drawn_columns | 1))
    fits_in_shared = shared <= _MAX_SHARED
    # A ragged batch points to a table: in each row the arguments follow the image's fields (_passes/ragged.py).
    sample_arguments = (images.pointer + RAGGED_IMAGE.size, images.axes.strides[0]) if images.ragged else (0, 0)
    record = _pack(program.pointer, length, table, drawn_columns, draws, samples, sample_arguments, fits_in_shared)
    if images.device < 0:
        images.executor.loop("cuaug::draw", extension().draw(record), record)
    elif samples:
        grid, stream = (block_count(samples), 1, 1), images.library.current_stream(images.device)
        dynamic = shared if fits_in_shared else 0
        images.executor.launch("cuaug::draw", record, grid, _THREADS, dynamic, images.device, stream)


def draw_on_host(
    program: np.ndarray, table: np.ndarray, ids: np.ndarray, seed: int, step: int, sample_arguments: np.ndarray
) -> None:
    """Fills `table` [N, P]. `sample_arguments`: arguments of instructions, per sample (_fusion/ragged.py). [N, K]"""
    address = extension().array_address
    rows = StridedArray(address(table), table.shape[1], 0, 1, 1, table)
    address_and_stride = address(sample_arguments), sample_arguments.shape[1]
    draws = Draws(address(ids), 0, seed, step, 0, ids)
    record = _pack(address(program), len(program), rows, table.shape[1], draws, len(table), address_and_stride, False)
    extension().run(extension().draw(record), record)


def _pack(
    program: int,
    length: int,
    table: StridedArray,
    drawn_columns: int,
    draws: Draws,
    samples: int,
    sample_arguments: tuple[int, int],
    fits_in_shared: bool,
) -> bytes:
    """`cuaug::DrawRecord`. `sample_arguments`: address and stride of the arguments per sample; 0: none."""
    address, stride = sample_arguments
    pointers = program, table.pointer, draws.ids, address, draws.replays
    numbers = draws.seed, draws.step, draws.first_id, samples, stride
    return DRAW.pack(*pointers, *numbers, length, table.sample_stride, drawn_columns, fits_in_shared)


def block_count(samples: int) -> int:
    return -(-samples // SAMPLES_PER_BLOCK)
