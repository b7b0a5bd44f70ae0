"""Ragged batches: images of different sizes and addresses as one batch, described by a table that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays.images import BatchAxes, ImageBatch
from .._arrays.numpy_library import NUMPY
from .._check import BackendError
from .._gpu import streams
from .._program.records import RAGGED_IMAGE
from . import layouts

_RECORD_COLUMNS = RAGGED_IMAGE.size // 8  # of the table, each of 8 bytes


class _Owners(NamedTuple):
    """Keeps the memory of a ragged batch alive."""

    table: Any
    images: list[Any]


class RaggedTemplate(NamedTuple):
    """A ragged batch of one image on a CPU, for other images with the same dtype, axes and alignment."""

    table: np.ndarray
    axes: BatchAxes

    def batch(self, image: ImageBatch) -> ImageBatch:
        table = self.table.copy()
        table.view(np.int64)[0, 0] = image.pointer
        owners = _Owners(table, [image.owner])
        return image._replace(pointer=NUMPY.pointer(table), axes=self.axes, read_only=True, owner=owners)


def ragged_batch(images: Sequence[ImageBatch], arguments: np.ndarray, has_n_axis: bool = True) -> ImageBatch:
    """Single images of one library, dtype, device, layout and number of channels, as a ragged batch.

    The batch's pointer is that of a table with a row per image: the fields of `RAGGED_IMAGE`, then the sample's
    arguments, as float64. The batch's sample stride is the number of float64 in a row.

    Args:
        images: Each one has a single sample.
        arguments: Of the instructions that take arguments per sample. [N, K]
        has_n_axis: Whether results have the axis N. Without it, there is one image.
    """
    first, axes = images[0], [image.axes for image in images]
    if first.device >= 0 and streams.is_capturing(first.library.current_stream(first.device)):
        raise BackendError("images of different sizes cannot be captured: the graph would keep their addresses")
    tag = next(tag for tag in layouts.TAGS if all(tag in layouts.possible_tags(image_axes) for image_axes in axes))
    records = b"".join(
        RAGGED_IMAGE.pack(
            image.pointer, *image.axes.strides[2:], *image.axes.extents[3:], _vector_elements(image, tag), 0
        )
        for image in images
    )
    rows = np.empty((len(images), _RECORD_COLUMNS + arguments.shape[1]))
    rows[:, :_RECORD_COLUMNS] = np.frombuffer(records).reshape(-1, _RECORD_COLUMNS)
    rows[:, _RECORD_COLUMNS:] = arguments
    orders = {image_axes.memory_order for image_axes in axes}
    order = orders.pop() if len(orders) == 1 else None
    # Strides from which `layouts.tag` finds the tag again; kernels read those of each image from the table.
    c, x = {"Planar": (0, 1), "Packed": (1, first.channels), "Strided": (0, 0)}[tag]
    layout = first.axes.layout
    if has_n_axis:
        layout, order = f"N{layout}", None if order is None else (0, *(axis + 1 for axis in order))
    batch_axes = BatchAxes(layout, (len(images), 1, first.channels, 0, 0), (rows.shape[1], 0, c, 0, x), order)
    table = rows if first.device < 0 else first.library.from_numpy(rows, first.device)
    pointer = (NUMPY if first.device < 0 else first.library).pointer(table)
    owners = _Owners(table, [image.owner for image in images])
    return first._replace(pointer=pointer, axes=batch_axes, read_only=True, owner=owners)


def ragged_template(batch: ImageBatch) -> RaggedTemplate:
    """`batch`: a result of `ragged_batch` for one image."""
    assert isinstance(batch.owner, _Owners)
    return RaggedTemplate(batch.owner.table, batch.axes)


def _vector_elements(image: ImageBatch, tag: str) -> int:
    """`layouts.vector_elements`; 0 if the batch's layout is slower than the image's own."""
    if layouts.tag(image.axes) != tag:
        return 0
    return layouts.vector_elements(image.axes, image.dtype, image.pointer % 16)
