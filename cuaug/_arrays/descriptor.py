"""What is known of an array in memory: pointer, shape, strides, dtype and device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class ArrayDescriptor(NamedTuple):
    """What a capsule describes. The capsule, `owner`, keeps the memory alive and gives it back when it is dropped."""

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: int
    read_only: bool
    owner: object


def contiguous_strides(shape: tuple[int, ...], order: Sequence[int] | None = None) -> tuple[int, ...]:
    """Strides, in elements, of an array whose memory runs through the axes in `order`, the outermost first: C order."""
    strides, step = [0] * len(shape), 1
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)
