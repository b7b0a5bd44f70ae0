"""An array in memory as numbers: pointer, shape, strides, dtype and device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class ArrayDescriptor(NamedTuple):
    """An array of any library. `owner`, the array or its DLPack capsule, keeps the memory alive.

    `strides` are in elements; `device` is -1 for the CPU, else the number of the CUDA device.
    """

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: int
    read_only: bool
    owner: object


def contiguous_strides(shape: tuple[int, ...], order: Sequence[int] | None = None) -> tuple[int, ...]:
    """Strides, in elements, of a dense array. `order`: axes from outermost to innermost in memory; None: C order."""
    strides, stride = [0] * len(shape), 1
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = stride
        stride *= max(shape[axis], 1)
    return tuple(strides)
