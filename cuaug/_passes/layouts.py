"""How kernels step through images: the tags of kernels/gpu/layout.cuh, and what moves as vectors."""

from __future__ import annotations

import functools

from .._arrays.images import BatchAxes
from .._program.dtypes import ITEM_SIZE

TAGS = "Planar", "Packed", "Strided"


@functools.lru_cache(4096)
def readings(axes: BatchAxes) -> tuple[str, ...]:
    """All tags as which images may be read, the best first."""
    _, _, channels, _, width = axes.extents
    _, _, c, _, x = axes.strides
    planar = x == 1 or width == 1  # where there is one column alone, how far the next would be does not count
    packed = channels > 1 and c == 1 and (x == channels or width == 1)
    few = channels <= 4
    return tuple(tag for tag, fits in zip(TAGS, (few and planar, few and packed, True), strict=True) if fits)


def tag(axes: BatchAxes) -> str:
    """That of the kernel for such images, which may be ragged."""
    best = readings(axes)[0]
    return best if axes.extents[3] else f"Ragged<cuaug::{best}>"


@functools.lru_cache(4096)
def aligned(axes: BatchAxes, dtype: str, phase: int) -> int:
    """How many adjacent elements, 16, 8, 4 or 0, move as vectors of up to 16 bytes, from any multiple of so many on."""
    item = ITEM_SIZE[dtype]
    planes = axes.strides[:4] if tag(axes) == "Planar" else (*axes.strides[:2], axes.strides[3])
    steps = (phase, *(stride * item for stride in planes))
    return next((count for count in (16, 8, 4) if all(step % min(count * item, 16) == 0 for step in steps)), 0)
