"""Results of several sizes: images without gaps, one after another in one array."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._arrays import convert
from .._arrays.images import BatchAxes, ImageBatch, OutputArray, result_axes
from .._program.dtypes import ITEM_SIZE

_ALIGNMENT = 64  # bytes: that of each image's first pixel


class ConsecutiveImages(NamedTuple):
    """`memory_layout`: the order of the axes in memory, "CHW" or "HWC"."""

    array: Any
    first: ImageBatch  # an image with the library, dtype, device, layout and channels of the results
    memory_layout: str
    size: np.ndarray  # (H, W) [N, 2]
    offset: np.ndarray  # of each image, in elements [N]

    def output(self) -> OutputArray:
        """The array as the result of a pass, with the axes of images that have the largest height and width."""
        height, width = self.size.max(0).tolist()
        axes = self.first.axes._replace(extents=(len(self.size), *self.first.axes.extents[1:]))
        _, axes = result_axes(axes, f"N{self.memory_layout}", (height, width), self.first.channels)
        return OutputArray(self.array, self.first.library.pointer(self.array), axes)

    def images(self) -> list[Any]:
        """Each image as an array of the caller's library, with the axes of `first`."""
        library, channels, layout = self.first.library, self.first.channels, self.first.axes.layout
        results = []
        for start, (height, width) in zip(self.offset.tolist(), self.size.tolist(), strict=True):
            pixels = self.array[start : start + channels * height * width]
            if self.memory_layout == "CHW":
                image = pixels.reshape((channels, height, width))
            else:
                image = pixels.reshape((height, width, channels))
            if layout != self.memory_layout:
                image = convert.namespace(image).moveaxis(image, self.memory_layout.index("C"), layout.index("C"))
            results.append(library.to_user_array(image))
        return results


def memory_layout(axes: BatchAxes) -> str | None:
    """The order of a single image's axes in memory, "CHW" or "HWC"; None if there are gaps between its pixels."""
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
