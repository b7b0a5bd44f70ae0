"""Results of several sizes: images without gaps, one after another in one array."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import convert
from .._arrays.images import BatchAxes, ImageBatch, OutputArray, result_axes
from .._program.dtypes import ITEM_SIZE

_ALIGNMENT = 64  # bytes: that of each image's first pixel


class ConsecutiveImages(NamedTuple):
    """Images in one array. `memory_layout`: the order of their axes in memory, "CHW" or "HWC"."""

    array: Any
    first: ImageBatch  # an image with the library, dtype, device, layout and channels of the results
    memory_layout: str
    size: np.ndarray  # (H, W) [N, 2]
    offset: np.ndarray  # of each image, in elements [N]

    def output(self) -> OutputArray:
        """The array as the result of a pass, with the axes of images that have the largest height and width."""
        height, width = self.size.max(0).tolist()
        width = max(width, 2)  # with one column, planar and packed images may have equal strides
        axes = self.first.axes._replace(extents=(len(self.size), *self.first.axes.extents[1:]))
        _, axes = result_axes(axes, f"N{self.memory_layout}", (height, width), self.first.channels)
        return OutputArray(self.array, self.first.library.pointer(self.array), axes)

    def images(self) -> list[Any]:
        """Each image as an array of the caller's library, with the axes of `first`."""
        layout, channels, is_packed = self.first.axes.layout, self.first.channels, self.memory_layout == "HWC"
        to_user_array, results = self.first.library.to_user_array, []
        for start, (height, width) in zip(self.offset.tolist(), self.size.tolist(), strict=True):
            c, y, x = (1, channels * width, channels) if is_packed else (height * width, width, 1)
            if layout == "CHW":
                image = _view(self.array, (channels, height, width), (c, y, x), start)
            else:
                image = _view(self.array, (height, width, channels), (y, x, c), start)
            results.append(to_user_array(image))
        return results


def _view(array: Any, shape: tuple[int, ...], strides: tuple[int, ...], start: int) -> Any:
    """A view of a part of an array of one axis; strides and start in elements.

    torch's `as_strided` takes 1.4 us; slicing and reshaping a tensor would take 3.6 us.
    """
    if hasattr(array, "as_strided"):
        return array.as_strided(shape, strides, start)
    strides_in_bytes = [stride * array.itemsize for stride in strides]
    return convert.namespace(array).lib.stride_tricks.as_strided(array[start:], shape, strides_in_bytes)


def memory_layout(axes: BatchAxes) -> str | None:
    """The order of a single image's axes in memory, "CHW" or "HWC"; an image of width 1 counts as "CHW".

    None if the pixels of a row, or the channels of a packed pixel, are not adjacent. Rows may have gaps between them.
    """
    _, _, channels, _, width = axes.extents
    _, _, c_stride, _, x_stride = axes.strides
    if x_stride == 1 or width == 1:
        return "CHW"
    return "HWC" if c_stride == 1 and x_stride == channels else None


def allocate_images(first: ImageBatch, memory_layout: str, size: np.ndarray) -> ConsecutiveImages:
    """Memory for results of these sizes (H, W) [N, 2]; otherwise as `first`, a single image "CHW" or "HWC"."""
    step = _ALIGNMENT // ITEM_SIZE[first.dtype]
    elements = -(-first.channels * size.prod(1) // step) * step
    array = first.library.empty((int(elements.sum()),), first.dtype, first.device, None)
    return ConsecutiveImages(array, first, memory_layout, size, np.cumsum(elements) - elements)
