"""Images of several sizes placed in larger results, or cropped, in one launch on a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import _check
from .._arrays.images import ImageBatch
from .._gpu import devices
from .._program.dtypes import ITEM_SIZE
from .._program.names import name_expression
from .._program.records import PLACE_IMAGES
from .consecutive_images import ConsecutiveImages, allocate_images
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
    _launch(first, placements, fill, channels if is_planar else 1, pixel_channels)
    return results


def _launch(first: ImageBatch, placements: np.ndarray, fill: Fill, planes: int, pixel_channels: int) -> None:
    library = first.library
    devices.check_not_forked()
    on_device = library.from_numpy(placements, first.device)
    record = PLACE_IMAGES.pack(library.pointer(on_device), *fill.table[:5], *fill.inline, planes, pixel_channels)
    grid = len(placements) * planes, -(-int(placements[:, 8].max()) // _BLOCK_ROWS), 1
    kernel = name_expression("place_images", cpp_dtype(first.dtype))
    stream = library.current_stream(first.device)
    first.executor.launch(kernel, record, grid, _BLOCK_THREADS, 0, first.device, stream)
