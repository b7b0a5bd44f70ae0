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


class RaggedRow(NamedTuple):
    """A row of a ragged batch's table, for images of one kind: without an address."""

    numbers: bytes  # the fields of `RAGGED_IMAGE`, of which the address is 0, then the sample's arguments as float64
    tag: str
    order: tuple[int, ...] | None  # `BatchAxes.memory_order`


def ragged_row(image: ImageBatch, arguments: np.ndarray, tag: str = "") -> RaggedRow:
    """The row of a single image.

    Args:
        image: The image, whose address only its alignment matters.
        arguments: Of the instructions that take arguments per sample. [K]
        tag: The layout of the batch; default: the image's own.
    """
    tag = tag or layouts.tag(image.axes)
    fields = (0, *image.axes.strides[2:], *image.axes.extents[3:], _vector_elements(image, tag), 0)
    return RaggedRow(RAGGED_IMAGE.pack(*fields) + arguments.tobytes(), tag, image.axes.memory_order)


def ragged_batch(images: Sequence[ImageBatch], arguments: np.ndarray) -> ImageBatch:
    """Single images of one library, dtype, device, layout and number of channels, as a ragged batch.

    `arguments`: of the instructions that take arguments per sample. [N, K]
    """
    axes = [image.axes for image in images]
    tag = next(tag for tag in layouts.TAGS if all(tag in layouts.possible_tags(image_axes) for image_axes in axes))
    rows = [ragged_row(image, row, tag) for image, row in zip(images, arguments, strict=True)]
    return batch_of_rows(images[0], rows, [image.pointer for image in images], [image.owner for image in images])


def batch_of_rows(
    first: ImageBatch, rows: Sequence[RaggedRow], pointers: list[int], owners: list[Any], has_n_axis: bool = True
) -> ImageBatch:
    """A ragged batch.

    Its pointer is that of a table of the rows, with the images' addresses. Its sample stride is the number of float64
    in a row.

    Args:
        first: One of the images.
        rows: Of the images, with one tag. [N]
        pointers: Addresses of the images. [N]
        owners: Keep the memory of the images alive.
        has_n_axis: Whether results have the axis N. Without it, there is one image.
    """
    if first.device >= 0 and streams.is_capturing(first.library.current_stream(first.device)):
        raise BackendError("images of different sizes cannot be captured: the graph would keep their addresses")
    table: Any = np.frombuffer(bytearray(b"".join([row.numbers for row in rows]))).reshape(len(rows), -1)
    table.view(np.int64)[:, 0] = pointers
    row_length, library = table.shape[1], NUMPY if first.device < 0 else first.library
    table = library.from_numpy(table, first.device)
    orders = {row.order for row in rows}
    order = orders.pop() if len(orders) == 1 else None
    layout = first.axes.layout
    if has_n_axis:
        layout, order = f"N{layout}", None if order is None else (0, *(axis + 1 for axis in order))
    # Strides from which `layouts.tag` finds the tag again; kernels read those of each image from the table.
    c, x = {"Planar": (0, 1), "Packed": (1, first.channels), "Strided": (0, 0)}[rows[0].tag]
    axes = BatchAxes(layout, (len(rows), 1, first.channels, 0, 0), (row_length, 0, c, 0, x), order)
    return first._replace(pointer=library.pointer(table), axes=axes, read_only=True, owner=(table, owners))


def _vector_elements(image: ImageBatch, tag: str) -> int:
    """`layouts.vector_elements`; 0 if the batch's layout is slower than the image's own."""
    if layouts.tag(image.axes) != tag:
        return 0
    return layouts.vector_elements(image.axes, image.dtype, image.pointer % 16)
