"""How kernels address images: the layout tags of kernels/gpu/layout.cuh, and the elements of vector accesses."""

from __future__ import annotations

import functools

from .._arrays.images import BatchAxes
from .._program.dtypes import ITEM_SIZE

TAGS = "Planar", "Packed", "Strided"


@functools.lru_cache(4096)
def possible_tags(axes: BatchAxes) -> tuple[str, ...]:
    """All tags that describe these strides, the fastest first."""
    _, _, channels, _, width = axes.extents
    _, _, c, _, x = axes.strides
    is_planar = x == 1 or width == 1  # the stride of a single column does not matter
    is_packed = channels > 1 and c == 1 and (x == channels or width == 1)
    fits_pixel = channels <= 4
    matches = fits_pixel and is_planar, fits_pixel and is_packed, True
    return tuple(tag for tag, match in zip(TAGS, matches, strict=True) if match)


def tag(axes: BatchAxes) -> str:
    """The layout argument of a kernel for these images. A ragged batch has height 0."""
    fastest = possible_tags(axes)[0]
    return fastest if axes.extents[3] else f"Ragged<cuaug::{fastest}>"


@functools.lru_cache(4096)
def vector_elements(axes: BatchAxes, dtype: str, misalignment: int) -> int:
    """The largest n of 16, 8 and 4 for which all rows begin at a multiple of n elements; 0 for none.

    If n elements are more than 16 bytes, it suffices that rows begin at a multiple of 16 bytes: n may be too large for
    smaller dtypes. A vector of m <= n elements and at most 16 bytes may begin at every multiple of m in a row.
    """
    item_size = ITEM_SIZE[dtype]
    outer_strides = axes.strides[:4] if tag(axes) == "Planar" else (*axes.strides[:2], axes.strides[3])
    bits = misalignment
    for stride in outer_strides:  # divisible by a power of two if every stride is
        bits |= stride * item_size
    return next((n for n in (16, 8, 4) if bits % min(n * item_size, 16) == 0), 0)
