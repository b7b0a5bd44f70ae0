"""Memory for images that the CPU decodes: new arrays of a library on the host, or the caller's `out`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _check
from .._arrays import convert, registry
from .._arrays.descriptor import REPEATED_ELEMENTS, repeats_elements
from .encoded_input import File


class OutputAllocator:
    """Checks the parameters that say where results go, and allocates results on the host."""

    def __init__(self, like: Any, pin: Any, out: Any = None, device: Any = None) -> None:
        _check.boolean("pin", pin)
        if out is not None and (like is not None or pin or device is not None):
            raise ValueError("out already determines the result: omit like, pin and device")
        self.device = registry.device_number(device)
        self.out, self.pin, self.library = out, pin, registry.library_by_name(like, self.device)
        if pin and (self.library.name != "torch" or self.device >= 0):
            raise ValueError("pin=True needs like='torch', and no device")

    def allocate_on_host(self, shapes: Sequence[tuple[int, ...]]) -> list[tuple[Any, np.ndarray]]:
        """For each shape [H, W, C], an array of the library and NumPy's view of it, in that shape."""
        return [self._allocate(shape) for shape in shapes]

    def _allocate(self, shape: tuple[int, ...]) -> tuple[Any, np.ndarray]:
        if not self.library.channels_first:
            array = self.library.empty(shape, "uint8", -1, None)
            return array, array
        shape, order = (shape[2], *shape[:2]), (1, 2, 0)
        array = convert.allocate_pinned(shape, order) if self.pin else self.library.empty(shape, "uint8", -1, order)
        return array, np.moveaxis(convert.writable_host_array("out", array)[0], 0, -1)

    def views_of_out(
        self, shapes: Sequence[tuple[int, ...]], is_batch: bool, files: Sequence[File]
    ) -> list[np.ndarray]:
        """NumPy's views [H, W, C] of the images of `out`, into which `files` will be decoded."""
        out, channels_first = convert.writable_host_array("out", self.out)
        shape = shapes[0] if shapes else (0, 0, 0)
        mismatch = next((index for index, other in enumerate(shapes) if other != shape), None)
        if mismatch is not None:
            raise ValueError(
                f"out needs images of one size, image 0 is {shape} and image {mismatch} {shapes[mismatch]}"
            )
        expected: Any = (*([len(shapes)] if is_batch else []), *((shape[2], *shape[:2]) if channels_first else shape))
        has_shape = out.shape == expected
        if not shapes:  # no files: images of any size
            expected = "(0, C, H, W)" if channels_first else "(0, H, W, C)"
            has_shape = out.ndim == 4 and len(out) == 0
        if out.dtype != np.uint8 or not has_shape:
            raise ValueError(f"out must be uint8 of shape {expected}, got {out.dtype} of {out.shape}")
        if repeats_elements(out.strides, out.shape):
            raise ValueError(REPEATED_ELEMENTS)
        if any(np.may_share_memory(out, np.frombuffer(file.data, np.uint8)) for file in files):
            raise ValueError("out must not share memory with data")
        out = np.moveaxis(out, -3, -1) if channels_first else out
        images = list(out) if is_batch else [out]
        if not all(map(_has_contiguous_rows, images)):
            raise ValueError(
                "out must have contiguous rows: the channels of a pixel, and the pixels of a row, adjacent in memory"
            )
        return images


def _has_contiguous_rows(image: np.ndarray) -> bool:
    """Whether the channels of each pixel, and the pixels of each row, are adjacent in memory. [H, W, C], uint8"""
    _, width, channels = image.shape
    _, pixel_stride, channel_stride = image.strides
    return (channels == 1 or channel_stride == 1) and (width == 1 or pixel_stride == channels)
