"""Images of several sizes placed in larger results, or cropped, in one launch on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

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

_BLOCK_ROWS, _BLOCK_THREADS, _MAX_PIXEL_BYTES = 32, 256, 32  # kernels/passes/place_images.cu, kernels/gpu/copy_row.cuh
_MAX_ROWS, _MAX_ROW_BYTES = 65535 * _BLOCK_ROWS, (1 << 31) - 1


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
    dtype, channels, item_size = first.dtype, first.channels, ITEM_SIZE[first.dtype]
    _check.dtypes(dtype, dtype, "nearest")
    is_planar = layout == "CHW"
    pixel_channels = 1 if is_planar else channels
    pixel_bytes = pixel_channels * item_size
    size = box[:, 2:]
    if int(size[:, 0].max()) > _MAX_ROWS or int(size[:, 1].max()) * pixel_bytes > _MAX_ROW_BYTES:
        raise ValueError(
            f"results must have at most {_MAX_ROWS} rows of 2**31 bytes, got {tuple(size.max(0).tolist())}"
        )
    results = allocate_images(first, layout, size)
    rows = [(image.pointer, *image.axes.extents[3:], *image.axes.strides[2:4]) for image in images]
    pointer, height, width, *strides = np.array(rows, np.int64).T
    image_size = np.stack([height, width], 1)
    low = np.clip(box[:, :2], 0, image_size)
    part = np.maximum(np.minimum(box[:, :2] + size, image_size) - low, 0)  # (H, W) of the box's part in the image
    part[(part == 0).any(1)] = 0
    before = np.clip(-box[:, :2], 0, size)
    placements = np.empty((len(images), 10), np.int64)  # rows of `cuaug::ImagePlacement`
    plane, pitch = (stride * item_size for stride in strides)
    placements[:, 0] = pointer + low[:, 0] * pitch + low[:, 1] * pixel_bytes
    placements[:, 1] = results.output().pointer + results.offset * item_size
    placements[:, 2], placements[:, 3] = pitch, plane
    placements[:, 4], placements[:, 5] = part[:, 0], part[:, 1] * pixel_bytes
    placements[:, 6], placements[:, 7] = before[:, 0], before[:, 1] * pixel_bytes
    placements[:, 8], placements[:, 9] = size[:, 0], size[:, 1] * pixel_bytes
    devices.check_not_forked()
    table = first.library.from_numpy(placements, first.device)
    fields = first.library.pointer(table), *(0,) * 14, *fill.table[:5], *fill.inline, 1
    _launch(first, PLACE_IMAGES.pack(*fields, *_planes(first, layout), 0), len(images), layout, int(size[:, 0].max()))
    return results


def place_batch(images: ImageBatch, corner: tuple[int, int], fill: Fill, result: OutputArray) -> bool:
    """Writes a box of every image to the result, of the same dtype; pixels outside the image get the fill.

    `corner`: top and left of the box, which has the size of the result. Returns False, and writes nothing, if the
    memory has a layout that the kernel does not take.
    """
    layout = memory_layout(images.axes)
    if layout is None or not can_place(images, layout) or not _has_no_gaps(result.axes, layout):
        return False
    item_size = ITEM_SIZE[images.dtype]
    n_stride, t_stride, plane, pitch, _ = (stride * item_size for stride in images.axes.strides)
    pixel_bytes = _planes(images, layout)[1] * item_size
    (top, left), (height, width), (image_height, image_width) = corner, result.axes.extents[3:], images.size
    if min(images.axes.strides) < 0 or height > _MAX_ROWS or width * pixel_bytes > _MAX_ROW_BYTES:
        return False
    first_row, first_column = (
        min(max(position, 0), side) for position, side in ((top, image_height), (left, image_width))
    )
    rows, columns = min(top + height, image_height) - first_row, min(left + width, image_width) - first_column
    if rows <= 0 or columns <= 0:
        rows = columns = first_row = first_column = 0
    fields = (
        *(0, images.pointer + first_row * pitch + first_column * pixel_bytes, result.pointer, pitch, plane),
        *(rows, columns * pixel_bytes, min(max(-top, 0), height), min(max(-left, 0), width) * pixel_bytes),
        *(height, width * pixel_bytes),
        *(n_stride, t_stride, *(stride * item_size for stride in result.axes.strides[:2])),
        *(*fill.table[:5], *fill.inline),
        *(images.frames, *_planes(images, layout), 0),
    )
    _launch(images, PLACE_IMAGES.pack(*fields), images.samples * images.frames, layout, height)
    return True


def _planes(images: ImageBatch, layout: str) -> tuple[int, int]:
    """The planes of an image, and the channels of a pixel."""
    return (images.channels, 1) if layout == "CHW" else (1, images.channels)


def _has_no_gaps(axes: BatchAxes, layout: str) -> bool:
    """Whether an image's memory has this layout, without gaps between pixels, rows and planes."""
    _, _, channels, height, width = axes.extents
    _, _, *strides = axes.strides
    dense = (height * width, width, 1) if layout == "CHW" else (1, width * channels, channels)
    extents = channels, height, width
    return all(extent == 1 or a == b for a, b, extent in zip(strides, dense, extents, strict=True))


def _launch(images: ImageBatch, record: bytes, count: int, layout: str, max_rows: int) -> None:
    """`count`: images; `max_rows`: of the tallest result."""
    grid = count * _planes(images, layout)[0], -(-max_rows // _BLOCK_ROWS), 1
    kernel = name_expression("place_images", cpp_dtype(images.dtype))
    stream = images.library.current_stream(images.device)
    images.executor.launch(kernel, record, grid, _BLOCK_THREADS, 0, images.device, stream)
