"""Writes JPEG by libjpeg-turbo."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays.convert import host_array
from .._arrays.images import describe_images
from .._host import extension
from .limits import MAX_SIDE

# Luma samples for each chroma sample, along x and along y.
SUBSAMPLINGS = {"444": (1, 1), "422": (2, 1), "420": (2, 2), "440": (1, 2), "411": (4, 1), "gray": (1, 1)}


def encode_jpegs(
    images: Any, quality: int, subsampling: str, progressive: bool, color: str, layout: str | None
) -> bytes | list[bytes]:
    is_list = isinstance(images, (list, tuple))
    pixels = [image for array in (images if is_list else [images]) for image in _host_images(array, layout, is_list)]
    encoded: list[Any] = [None] * len(pixels)
    for channels, pixel_color in ((1, "gray"), (3, color)):
        indices = [index for index, image in enumerate(pixels) if image.shape[2] == channels]
        # Address, height, width, and bytes from one row to the next.
        arguments = [
            (pixels[i].__array_interface__["data"][0], *pixels[i].shape[:2], pixels[i].strides[0]) for i in indices
        ]
        horizontal, vertical = SUBSAMPLINGS[subsampling]
        results = extension.jpeg_extension().jpeg_encode(
            arguments, pixel_color, quality, horizontal, vertical, subsampling == "gray", progressive
        )
        for index, result in zip(indices, results, strict=True):
            if isinstance(result, str):
                raise ValueError(f"image {index} cannot be written as JPEG: {result}")
            encoded[index] = result
    return encoded if is_list or "N" in describe_images(images, layout).axes.layout else encoded[0]


def _host_images(array: Any, layout: str | None, is_entry: bool) -> list[np.ndarray]:
    """The images of a batch, or the one image, [H, W, C] with contiguous rows. `is_entry`: one of a list."""
    batch = describe_images(array, layout)
    axes = batch.axes.layout
    if batch.device >= 0:
        raise TypeError("images must be on the host: copy them, for instance with .cpu() or cupy.asnumpy")
    if batch.dtype != "uint8":
        raise TypeError(f"images must be uint8, got {batch.dtype}: cuaug.to_dtype(images, 'uint8', scale=True)")
    if "T" in axes:
        raise ValueError(f"images must have no axis T, got {axes}: pass the frames of each video as a batch")
    if is_entry and "N" in axes:
        shape = tuple(dict(zip("NTCHW", batch.axes.extents, strict=True))[axis] for axis in axes)
        raise ValueError(f"images in a list must be single images, got shape {shape} as {axes}")
    if batch.channels not in (1, 3):
        raise ValueError(f"images must have 1 or 3 channels, got {batch.channels} as {axes}")
    if max(batch.size) > MAX_SIDE:
        raise ValueError(f"images must have sides of at most {MAX_SIDE} pixels, got {batch.size}")
    pixels = host_array("images", array, None)
    pixels = pixels[..., None] if "C" not in axes else np.moveaxis(pixels, axes.index("C"), -1)
    images = pixels if "N" in axes else pixels[None]
    return [image if image.strides[1:] == (image.shape[2], 1) else np.ascontiguousarray(image) for image in images]
