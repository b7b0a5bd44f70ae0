"""Images each with a place and a size of its own, as one batch: a table that kernels find them in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._arrays.images import BatchAxes, ImageBatch
from .._check import BackendError
from .._gpu import streams
from .._program.records import RAGGED_IMAGE
from . import layouts as _layouts

_PLACE = RAGGED_IMAGE.size // 8  # numbers of a row before the sample's own


def batch(images: Sequence[ImageBatch], own: np.ndarray) -> ImageBatch:
    """Single images of one library, dtype, device, layout and number of channels, as a ragged batch.

    `own`: further numbers of each sample. [N, K]
    """
    first, axes = images[0], [image.axes for image in images]
    if first.device >= 0 and streams.is_capturing(first.library.current_stream(first.device)):
        raise BackendError("images of different sizes cannot be captured, as a graph would keep where they lie")
    tag = next(tag for tag in _layouts.TAGS if all(tag in _layouts.readings(each) for each in axes))
    rows = np.zeros((len(images), _PLACE + own.shape[1]))
    rows[:, _PLACE:] = own
    rows.view(np.int64)[:, 0] = [image.pointer for image in images]
    rows.view(np.int64)[:, 1] = [each.strides[2] for each in axes]
    rows.view(np.int32)[:, 4:9] = [
        (*each.strides[3:], *each.extents[3:], _aligned(each, tag, image.dtype, image.pointer % 16))
        for image, each in zip(images, axes, strict=True)
    ]
    table = first.library.from_numpy(rows, first.device)
    orders = {each.memory_order for each in axes}
    order = orders.pop() if len(orders) == 1 else None
    c, x = {"Planar": (0, 1), "Packed": (1, first.channels), "Strided": (0, 0)}[tag]
    described = BatchAxes(
        f"N{first.axes.layout}",
        (len(images), 1, first.channels, 0, 0),
        (rows.shape[1], 0, c, 0, x),
        None if order is None else (0, *(axis + 1 for axis in order)),
    )
    owners = table, [image.owner for image in images]
    return first._replace(pointer=first.library.pointer(table), axes=described, read_only=True, owner=owners)


def _aligned(axes: BatchAxes, tag: str, dtype: str, phase: int) -> int:
    return _layouts.aligned(axes, dtype, phase) if _layouts.tag(axes) == tag else 0
