"""An array in memory as numbers: pointer, shape, strides, dtype and device."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

REPEATED_ELEMENTS = "out must not repeat elements: its strides give two positions the same memory"
COPIED_VIEW = (
    "out must be writable in place: its strides must be whole elements, and torch's negative bit must not be set "
    "(torch.Tensor.is_neg)"
)


class ArrayDescriptor(NamedTuple):
    """An array of any library. `owner`, the array or its DLPack capsule, keeps the memory alive.

    `strides` are in elements; `device` is -1 for the CPU, else the number of the CUDA device. `is_copy`: `pointer`
    is the address of a copy, so that nothing written there reaches the array.
    """

    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: int
    read_only: bool
    owner: object
    is_copy: bool = False


def contiguous_strides(shape: tuple[int, ...], order: Sequence[int] | None = None) -> tuple[int, ...]:
    """Strides, in elements, of a dense array. `order`: axes from outermost to innermost in memory; None: C order."""
    strides, stride = [0] * len(shape), 1
    for axis in reversed(range(len(shape)) if order is None else order):
        strides[axis] = stride
        stride *= max(shape[axis], 1)
    return tuple(strides)


def byte_range(strides: Sequence[int], extents: Sequence[int], item_size: int) -> tuple[int, int]:
    """The offsets of an array's bytes from its pointer, as a half-open range."""
    if 0 in extents:
        return 0, 0
    last = [stride * (extent - 1) for stride, extent in zip(strides, extents, strict=True)]
    return item_size * sum(min(offset, 0) for offset in last), item_size * (sum(max(offset, 0) for offset in last) + 1)


@functools.lru_cache(4096)
def repeats_elements(strides: tuple[int, ...], extents: tuple[int, ...]) -> bool:
    """Whether two positions share memory, or may: a stride is not greater than the reach of the smaller strides."""
    reach = 0  # from the first to the last element along the axes of the smaller strides, in elements
    for stride, extent in sorted((abs(s), n) for s, n in zip(strides, extents, strict=True) if n > 1):
        if stride <= reach:
            return 0 not in extents
        reach += stride * (extent - 1)
    return False
