"""Ragged batches: images with sizes and addresses of their own as one batch, described by a table that kernels read."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._arrays.images import BatchAxes, ImageBatch
from .._arrays.numpy_library import NUMPY
from .._arrays.row_tables import join_rows
from .._check import BackendError
from .._gpu import devices, streams
from .._program.records import RAGGED_IMAGE
from . import layouts


class RaggedRow(NamedTuple):
    """A row of a ragged batch's table, in which the image's address is still 0."""

    row_bytes: bytes  # the fields of `RAGGED_IMAGE`, then the arguments as float64
    tag: str  # of `layouts.TAGS`
    order: tuple[int, ...] | None  # `BatchAxes.memory_order`


def ragged_row(image: ImageBatch, arguments: np.ndarray, tag: str = "") -> RaggedRow:
    """The row of a single image.

    Args:
        image: The image; of its address only the alignment is used.
        arguments: The numbers that the instructions with arguments per sample read. [K]
        tag: The layout tag that all images of the batch have; default: the image's fastest.
    """
    tag = tag or layouts.tag(image.axes)
    fields = _image_fields(image.axes, image.dtype, image.pointer % 16, tag)
    return RaggedRow(fields + arguments.tobytes(), tag, image.axes.memory_order)


@functools.lru_cache(4096)
def _image_fields(axes: BatchAxes, dtype: str, misalignment: int, tag: str) -> bytes:
    """The fields of `RAGGED_IMAGE`. Vectors are those of the image's own layout: 0 if the batch's tag is slower."""
    vector = layouts.vector_elements(axes, dtype, misalignment) if layouts.tag(axes) == tag else 0
    return RAGGED_IMAGE.pack(0, *axes.strides[2:], *axes.extents[3:], vector, 0)


def ragged_batch(images: Sequence[ImageBatch], arguments: np.ndarray, has_n_axis: bool = True) -> ImageBatch:
    """Single images of one library, dtype, device, layout and number of channels, as a ragged batch.

    Args:
        images: The images.
        arguments: The numbers that the instructions with arguments per sample read. [N, K]
        has_n_axis: As in `batch_of_table`.
    """
    axes = [image.axes for image in images]
    tag = next(tag for tag in layouts.TAGS if all(tag in layouts.possible_tags(image_axes) for image_axes in axes))
    rows = [ragged_row(image, row, tag) for image, row in zip(images, arguments, strict=True)]
    table = join_rows([row.row_bytes for row in rows], [image.pointer for image in images])
    orders = {row.order for row in rows}
    order = orders.pop() if len(orders) == 1 else None
    return batch_of_table(
        table, images[0], rows[0]._replace(order=order), [image.owner for image in images], has_n_axis
    )


def batch_of_table(
    table: bytearray, first: ImageBatch, row: RaggedRow, owners: list[Any], has_n_axis: bool = True
) -> ImageBatch:
    """The ragged batch of a table of rows, in which the images' addresses are.

    Its pointer is the address of the table. Its stride of N is the length of a row in units of 8 bytes.

    Args:
        table: One row for each image, all with the same tag.
        first: One of the images; its address and its size are not used.
        row: One of the rows, for its length, tag and order.
        owners: The arrays, which the batch keeps alive.
        has_n_axis: Whether results have the axis N. Without it, there is one image.
    """
    if first.device >= 0:
        devices.check_not_forked()
        if streams.is_capturing(first.library.current_stream(first.device)):
            raise BackendError("images of different sizes cannot be captured: the graph would keep their addresses")
    row_length = len(row.row_bytes) // 8
    rows: Any = np.frombuffer(table, np.float64).reshape(-1, row_length)
    library = NUMPY if first.device < 0 else first.library  # a tensor on the CPU would only take longer
    array = library.from_numpy(rows, first.device)
    layout, order = first.axes.layout, row.order
    if has_n_axis:
        layout = f"N{layout}"
        order = None if order is None else (0, *(axis + 1 for axis in order))
    # Strides from which `layouts.tag` finds the tag again; kernels read those of each image from the table.
    c, x = {"Planar": (0, 1), "Packed": (1, first.channels), "Strided": (0, 0)}[row.tag]
    axes = BatchAxes(layout, (len(rows), 1, first.channels, 0, 0), (row_length, 0, c, 0, x), order)
    return first._replace(pointer=library.pointer(array), axes=axes, read_only=True, owner=(array, owners))
