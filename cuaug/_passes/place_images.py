"""Images placed in larger results, or cropped, in one launch on a GPU: images of several sizes, or a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _check
from .._arrays.images import BatchAxes, ImageBatch, OutputArray
from .._gpu import devices
from .._program.dtypes import ITEM_SIZE
from .._program.names import name_expression
from .._program.records import PLACE_IMAGES
from .consecutive_images import ConsecutiveImages, allocate_images, memory_layout
from .parameters import Fill
from .run import cpp_dtype

_BLOCK_ROWS, _ROWS_AT_ONCE = 32, 8  # kernels/passes/place_images.cu
_MAX_PIXEL_BYTES = 32  # kernels/gpu/copy_row.cuh
_LANE_BYTES = 32  # that a lane of kernels/gpu/copy_row.cuh loads before it stores
_MAX_ROWS = 65535 * _BLOCK_ROWS
_MAX_ROW_BYTES = (1 << 31) - 128  # copy_row.cuh counts in an int, up to 124 bytes beyond the row


def can_place(image: ImageBatch, layout: str) -> bool:
    """Whether `place_images` takes images of this dtype and number of channels, with this `memory_layout`."""
    return layout == "CHW" or image.channels * ITEM_SIZE[image.dtype] <= _MAX_PIXEL_BYTES


def place_images(images: Sequence[ImageBatch], layout: str, box: np.ndarray, fill: Fill) -> ConsecutiveImages:
    """A box of each image, which may reach beyond the image; pixels outside get the fill.

    Args:
        images: Single images on a GPU, which agree in library, dtype, device, layout and channels.
        layout: Their `memory_layout`.
        box: Top, left, height, width. [N, 4]
        fill: One number per channel.
    """
    first = images[0]
    _check.dtypes(first.dtype, first.dtype, "nearest")
    if not _has_room(first, layout, box[:, 2:]):
        largest = tuple(box[:, 2:].max(0).tolist())
        raise ValueError(
            f"results must have at most {_MAX_ROWS} rows, of at most {_MAX_ROW_BYTES} bytes, got {largest}"
        )
    results = allocate_images(first, layout, box[:, 2:])
    pointers = first.library.pointer(results.array) + results.offset * ITEM_SIZE[first.dtype]
    devices.check_not_forked()
    table = first.library.from_numpy(_placements(images, layout, box, pointers), first.device)
    fields = first.library.pointer(table), *(0,) * 14, *fill.table[:5], *fill.inline
    _launch(first, fields, len(images), layout, box[:, 2:])
    return results


def place_batch(images: ImageBatch, corner: tuple[int, int], fill: Fill, result: OutputArray) -> bool:
    """Writes a box of every image to the result, of the same dtype; pixels outside the image get the fill.

    `corner`: top and left of the box, which has the size of the result. Returns False, and writes nothing, if the
    memory has a layout that the kernel does not take.
    """
    layout, box = memory_layout(images.axes), np.array([(*corner, *result.axes.extents[3:])])
    if layout is None or not can_place(images, layout) or not _has_no_gaps(result.axes, layout):
        return False
    if min(images.axes.strides) < 0 or not _has_room(images, layout, box[:, 2:]):
        return False
    (placement,) = _placements([images], layout, box, np.array([result.pointer])).tolist()
    steps = (stride * ITEM_SIZE[images.dtype] for stride in (*images.axes.strides[:2], *result.axes.strides[:2]))
    fields = (0, *placement, *steps, *fill.table[:5], *fill.inline)
    _launch(images, fields, images.samples * images.frames, layout, box[:, 2:])
    return True


def _has_room(image: ImageBatch, layout: str, size: np.ndarray) -> bool:
    """Whether the kernel can count the rows, and the bytes of a row, of results of these sizes. [N, (H, W)]"""
    height, width = size.max(0).tolist()
    return height <= _MAX_ROWS and width * _pixel_bytes(image, layout) <= _MAX_ROW_BYTES


def _placements(images: Sequence[ImageBatch], layout: str, box: np.ndarray, results: np.ndarray) -> np.ndarray:
    """Rows of `cuaug::ImagePlacement` [N, 10]. `results`: the addresses of the results. [N]"""
    item_size, pixel_bytes = ITEM_SIZE[images[0].dtype], _pixel_bytes(images[0], layout)
    rows = [(image.pointer, *image.axes.extents[3:], *image.axes.strides[2:4]) for image in images]
    pointer, height, width, plane, pitch = np.array(rows, np.int64).T
    image_size, size = np.stack([height, width], 1), box[:, 2:]
    first = np.clip(box[:, :2], 0, image_size)
    part = np.maximum(np.minimum(box[:, :2] + size, image_size) - first, 0)  # (H, W) of the box's part in the image
    part[(part == 0).any(1)] = 0
    before = np.clip(-box[:, :2], 0, size)
    address = pointer + first[:, 0] * pitch * item_size + first[:, 1] * pixel_bytes
    columns = (address, results, pitch * item_size, plane * item_size)
    sides = ((pair[:, 0], pair[:, 1] * pixel_bytes) for pair in (part, before, size))
    return np.stack([*columns, *(column for pair in sides for column in pair)], 1)


def _planes(images: ImageBatch, layout: str) -> tuple[int, int]:
    """The planes of an image, and the channels of a pixel."""
    return (images.channels, 1) if layout == "CHW" else (1, images.channels)


def _pixel_bytes(image: ImageBatch, layout: str) -> int:
    return _planes(image, layout)[1] * ITEM_SIZE[image.dtype]


def _has_no_gaps(axes: BatchAxes, layout: str) -> bool:
    """Whether an image's memory has this layout, without gaps between pixels, rows and planes."""
    _, _, channels, height, width = axes.extents
    _, _, *strides = axes.strides
    dense = (height * width, width, 1) if layout == "CHW" else (1, width * channels, channels)
    extents = channels, height, width
    return all(extent == 1 or a == b for a, b, extent in zip(strides, dense, extents, strict=True))


def _launch(images: ImageBatch, fields: tuple[Any, ...], count: int, layout: str, size: np.ndarray) -> None:
    """`fields`: of the record, before `frames`; `count`: images; `size`: of the results. [N, (H, W)]"""
    planes, (height, width) = _planes(images, layout), size.max(0).tolist()
    grid = count * planes[0], -(-height // _BLOCK_ROWS), 1
    record = PLACE_IMAGES.pack(*fields, images.frames, *planes, 0)
    row_bytes = width * _pixel_bytes(images, layout)
    row_lanes = next((lanes for lanes in (8, 16) if row_bytes <= lanes * _LANE_BYTES), 32)
    kernel = name_expression("place_images", cpp_dtype(images.dtype), row_lanes)
    stream = images.library.current_stream(images.device)
    images.executor.launch(kernel, record, grid, _ROWS_AT_ONCE * row_lanes, 0, images.device, stream)
